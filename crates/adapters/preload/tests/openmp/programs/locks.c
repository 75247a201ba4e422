/* A thread holds a critical section, then a lock, until another is about to wait for it, and some time longer. */
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

static volatile int holds, waits;

static void meet(int me, int many) {
    if (me == 0) {
        __atomic_store_n(&holds, 1, __ATOMIC_SEQ_CST);
        while (many && !__atomic_load_n(&waits, __ATOMIC_SEQ_CST)) usleep(100);
        if (many) usleep(50000);
    } else {
        while (!__atomic_load_n(&holds, __ATOMIC_SEQ_CST)) usleep(100);
        __atomic_store_n(&waits, 1, __ATOMIC_SEQ_CST);
    }
}

int main(void) {
    omp_lock_t lock;
    int sum = 0;
    omp_init_lock(&lock);
#pragma omp parallel shared(lock, sum) /* @region */
    {
        int me = omp_get_thread_num(), many = omp_get_num_threads() > 1;
        if (me != 0) meet(me, many);
#pragma omp critical
        {
            if (me == 0) meet(me, many);
            sum += 1;
        }
#pragma omp barrier
#pragma omp single
        holds = waits = 0;
        if (me != 0) meet(me, many);
        omp_set_lock(&lock);
        if (me == 0) meet(me, many);
        sum += 1;
        omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
    printf("%d\n", sum > 0);
    return 0;
}
