/* Untied tasks whose parts are counted off late: the last part ends first, on another thread. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

/* The compiled code calls this to create a task, and to queue the next part of an untied one. */
int __kmpc_omp_task(void *where, int thread, void *task) {
    static int (*real)(void *, int, void *);
    if (!real) real = (int (*)(void *, int, void *))dlsym(RTLD_NEXT, "__kmpc_omp_task");
    int result = real(where, thread, task);
    usleep(300);
    return result;
}

static volatile int sink;

static void spin(void) {
    for (int i = 0; i < 20000; i++) sink = i;
}

static int rounds(void) {
    int done = 0;
#pragma omp parallel /* @region */
#pragma omp single
    for (int i = 0; i < 20; i++) {
#pragma omp task untied shared(done) /* @one */
        {
            spin();
#pragma omp atomic
            done += 1;
        }
#pragma omp task untied shared(done) /* @more */
        {
            spin();
#pragma omp task shared(done) /* @inside */
            {
#pragma omp atomic
                done += 1;
            }
#pragma omp taskwait
            spin();
        }
    }
    return done;
}

int main(void) {
    printf("%d\n", rounds());
    return 0;
}
