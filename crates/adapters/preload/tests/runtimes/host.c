// Loads libraries one after the other and calls each. The word before a library says how: `local`, `global`, `fork` (a child calls it too), or
// `unload` (it is unloaded after that).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef long (*Work)(int);
typedef long (*Around)(Work, int);

int main(int count, char **arguments) {
    Work alone_before = NULL;
    for (int i = 1; i + 1 < count; i += 2) {
        int global = !strcmp(arguments[i], "global");
        void *library = dlopen(arguments[i + 1], RTLD_NOW | (global ? RTLD_GLOBAL : RTLD_LOCAL));
        if (!library) {
            puts(dlerror());
            return 1;
        }
        Work work = (Work)dlsym(library, "work"), alone = (Work)dlsym(library, "alone");
        Around around = (Around)dlsym(library, "around");
        for (int n = 0; n < 2; n++) {
            printf("%ld", work(50));
            printf(" %ld", around(alone, 10));
            if (alone_before) printf(" %ld", around(alone_before, 10));
            printf(" %ld\n", around(work, 10) > 0);
        }
        fflush(stdout);
        if (!strcmp(arguments[i], "fork")) {
            pid_t child = fork();
            if (child == 0) {
                printf("child %ld\n", alone(4));
                fflush(stdout);
                _exit(0);
            }
            waitpid(child, NULL, 0);
        }
        if (!strcmp(arguments[i], "unload"))
            dlclose(library);
        else
            alone_before = alone;
    }
    return 0;
}
