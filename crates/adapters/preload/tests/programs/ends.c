/* Runs as many tasks as the second argument says, then ends in the way the first one does. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workspan.h"

static void tasks(long count) {
    static workspan_site CREATE = WORKSPAN_HERE;
    static workspan_site WAIT = WORKSPAN_HERE;
    for (long i = 0; i < count; i++) {
        workspan_begin(workspan_create(&CREATE, 0));
        workspan_end();
        workspan_wait_children(&WAIT);
        workspan_resume();
    }
}

static void *thread(void *count) {
    tasks((long)count);
    return NULL;
}

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    long count = atol(argv[2]);
    const char *how = argv[1];
    static workspan_site LAST = WORKSPAN_HERE;
    if (strcmp(how, "limit") == 0) {
        struct rlimit limit = {256 << 10, 256 << 10};
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    if (strcmp(how, "threads") == 0) {
        for (long i = 0; i < count; i++) {
            pthread_t one;
            if (pthread_create(&one, NULL, thread, (void *)2) != 0)
                return 3;
            pthread_join(one, NULL);
        }
        return 0;
    }
    if (strcmp(how, "two") == 0) {
        pthread_t one;
        if (pthread_create(&one, NULL, thread, (void *)count) != 0)
            return 3;
        tasks(count);
        pthread_join(one, NULL);
        return 0;
    }
    tasks(count);
    if (strcmp(how, "kill") == 0) {
        workspan_begin(workspan_create(&LAST, 0));
        raise(SIGKILL);
    } else if (strcmp(how, "_exit") == 0) {
        _exit(5);
    } else if (strcmp(how, "exit_inside") == 0) {
        workspan_begin(workspan_create(&LAST, 0));
        exit(6);
    } else if (strcmp(how, "fork") == 0) {
        pid_t child = fork();
        tasks(child == 0 ? 100000 : 10);
        if (child != 0) {
            int status;
            waitpid(child, &status, 0);
            return WEXITSTATUS(status) == 4 ? 0 : 1;
        }
        return 4;
    }
    return 0;
}
