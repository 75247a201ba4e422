/* A thread holds a critical section, then a lock, until another is seen to wait for it: that one sleeps, or spins. */
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile int holds, waits, claimed;
static clockid_t waiters_clock;
static long waiter;

/* Nanoseconds that the waiting thread has run. */
static long has_run(void) {
    struct timespec t;
    clock_gettime(waiters_clock, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

static int sleeps(void) {
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/self/task/%ld/stat", waiter);
    FILE *file = fopen(path, "r");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file) fclose(file);
    text[length] = 0;
    char *state = strrchr(text, ')');
    return state && state[1] && state[2] == 'S';
}

static void meet(int me, int many) {
    if (me == 0) {
        __atomic_store_n(&holds, 1, __ATOMIC_SEQ_CST);
        if (!many) return;
        while (!__atomic_load_n(&waits, __ATOMIC_SEQ_CST)) usleep(100);
        /* It has but a few instructions to go to the wait. */
        long begun = has_run();
        for (int asleep = 0; asleep < 3 && has_run() - begun < 200000; usleep(5000))
            asleep = sleeps() ? asleep + 1 : 0;
    } else {
        while (!__atomic_load_n(&holds, __ATOMIC_SEQ_CST)) usleep(100);
        if (!__atomic_exchange_n(&claimed, 1, __ATOMIC_SEQ_CST)) {
            pthread_getcpuclockid(pthread_self(), &waiters_clock);
            waiter = syscall(SYS_gettid);
            __atomic_store_n(&waits, 1, __ATOMIC_SEQ_CST);
        }
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
        holds = waits = claimed = 0;
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
