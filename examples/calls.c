/* The six calls for a fork-join program: a recursion that gives one half to a new thread near its root and calls itself for the
 * rest. The plain calls count as tasks, too, so the whole recursion is in the trace. */
#include <pthread.h>
#include <stdio.h>

#include <workspan.h>

static workspan_site CALL = WORKSPAN_HERE, SPAWN = WORKSPAN_HERE, SYNC = WORKSPAN_HERE;

struct half {
    long n, found;
    int depth;
    workspan_task task;
};

static long fib(long n, int depth, workspan_task task);

static void *thread(void *argument) {
    struct half *half = argument;
    half->found = fib(half->n, half->depth, half->task);
    return NULL;
}

static long fib(long n, int depth, workspan_task task) {
    workspan_task call = workspan_task_begin(&CALL, task); /* 0, a plain call: a task inside the caller's */
    long found = n;
    if (n >= 2 && depth > 0) {
        struct half half = {n - 1, 0, depth - 1, workspan_task_spawn(&SPAWN)};
        pthread_t other;
        int threaded = pthread_create(&other, NULL, thread, &half) == 0;
        found = fib(n - 2, depth - 1, 0);
        workspan_task_sync(&SYNC);
        if (threaded) {
            pthread_join(other, NULL);
        } else {
            thread(&half);
        }
        workspan_task_resume(0);
        found += half.found;
    } else if (n >= 2) {
        found = fib(n - 1, 0, 0) + fib(n - 2, 0, 0);
    }
    workspan_task_end(call);
    return found;
}

int main(void) {
    printf("fib(15) = %ld\n", fib(15, 3, 0));
    return 0;
}
