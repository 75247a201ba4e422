// A sum in a region of its own, and tasks, of whichever runtime this is linked with.
#include <omp.h>
static omp_lock_t lock;
// The compiler makes a jump of this.
static __attribute__((noinline)) void take_lock(void) { omp_set_lock(&lock); }

long work(int n) {
    long s = 0;
    int threads = 0;
    if (n == 50) {
        omp_init_lock(&lock);
        take_lock();
        omp_unset_lock(&lock);
    }
#pragma omp parallel for reduction(+ : s) num_threads(2)
    for (int i = 0; i < 1000; i++) s += i;
#pragma omp parallel num_threads(3)
    {
#pragma omp critical
        threads += omp_get_num_threads();
#pragma omp barrier
#pragma omp single
        for (int i = 0; i < n; i++) {
#pragma omp task shared(s)
            {
#pragma omp atomic
                s += i;
            }
        }
#pragma omp for schedule(dynamic, 7)
        for (int i = 0; i < 100; i++) {
#pragma omp atomic
            s++;
        }
    }
    return s * 1000 + threads;
}

// Called in the region of whoever calls, which may be another runtime's: alone, all constructs are there and mean nothing.
long alone(int n) {
    long s = 0;
#pragma omp for schedule(dynamic)
    for (int i = 0; i < n; i++) s += i;
#pragma omp task shared(s)
    s += 5;
#pragma omp taskwait
#pragma omp barrier
    return s * 100 + omp_get_num_threads() * 10 + omp_get_thread_num();
}

// Another library's function in each thread of a region.
long around(long (*other)(int), int n) {
    long s = 0;
#pragma omp parallel num_threads(2) reduction(+ : s)
    {
        s += other(n);
#pragma omp barrier
        s += omp_get_thread_num();
    }
    return s;
}
