/* Loads plugin.c's library, whose name is its argument, so that nobody else sees what comes with it. */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **arguments) {
    void *library = count > 1 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*plugin)(int) = library ? (int (*)(int))dlsym(library, "plugin") : NULL;
    printf("%d\n", plugin ? plugin(100) : -1);
    return 0;
}
