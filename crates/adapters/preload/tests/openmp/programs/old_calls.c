/* Regions as gcc up to 4.8 opened and closed them: the master runs the outlined function itself. */
#include <stdbool.h>
#include <stdio.h>

void GOMP_parallel_start(void (*)(void *), void *, unsigned);
void GOMP_parallel_loop_dynamic_start(void (*)(void *), void *, unsigned, long, long, long, long);
void GOMP_parallel_end(void);
bool GOMP_loop_dynamic_next(long *, long *);
void GOMP_loop_end_nowait(void);

static void body(void *data) { /* @body */
    __atomic_fetch_add((int *)data, 1, __ATOMIC_RELAXED);
}

static void shared(void *data) { /* @shared */
    long from, to;
    while (GOMP_loop_dynamic_next(&from, &to))
        for (long i = from; i < to; i++)
            __atomic_fetch_add((int *)data, (int)i, __ATOMIC_RELAXED);
    GOMP_loop_end_nowait();
}

int main(void) {
    int calls = 0, sum = 0;
    GOMP_parallel_start(body, &calls, 0);
    body(&calls);
    GOMP_parallel_end();
    GOMP_parallel_loop_dynamic_start(shared, &sum, 0, 0, 10, 1, 2);
    shared(&sum);
    GOMP_parallel_end();
    printf("%d %d\n", calls > 0, sum);
    return 0;
}
