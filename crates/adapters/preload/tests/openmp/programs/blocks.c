/* Argument blocks that are large, or lie on a large boundary, and a taskloop of more tasks than a stack holds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    _Alignas(256) char bytes[300];
} aligned;

static void check(aligned *block) {
    if ((unsigned long)block % 256 != 0)
        abort();
}

int main(void) {
    static int sum, chunks;
    char large[5000];
    aligned block;
    memset(large, 7, sizeof large);
    memset(&block, 3, sizeof block);
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 20; i++) {
#pragma omp task firstprivate(large)
        __atomic_fetch_add(&sum, large[4999], __ATOMIC_RELAXED);
#pragma omp task firstprivate(block)
        {
            check(&block);
            __atomic_fetch_add(&sum, block.bytes[299], __ATOMIC_RELAXED);
        }
#pragma omp task firstprivate(block) if (0)
        {
            check(&block);
            __atomic_fetch_add(&sum, block.bytes[299], __ATOMIC_RELAXED);
        }
    }
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskloop grainsize(1)
        for (int i = 0; i < 100000; i++)
            __atomic_fetch_add(&chunks, 1, __ATOMIC_RELAXED);
    }
    printf("%d %d\n", sum, chunks);
    return 0;
}
