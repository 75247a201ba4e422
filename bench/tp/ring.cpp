// Tasks of a given length, created by one thread for some seconds, as a service does that runs with
// a flight recorder. Prints the CPU time of a task. A batch is waited for before the next one is
// created, so that the queue stays short.
//
//     ring SECONDS ROUNDS

#include <cstdio>
#include <cstdlib>
#include <ctime>

static double seconds(clockid_t clock) {
    timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static double work(long rounds) {
    double x = 1;
    for (long i = 0; i < rounds; i++) x = x * 1.0000001 + 1e-9;
    return x;
}

int main(int count, char **arguments) {
    double length = count > 1 ? atof(arguments[1]) : 1;
    long rounds = count > 2 ? atol(arguments[2]) : 4000;
    const int batch = 5000;
    volatile double sink = 0;
    long tasks = 0;
    double begun = seconds(CLOCK_MONOTONIC), used = seconds(CLOCK_PROCESS_CPUTIME_ID);
#pragma omp parallel
#pragma omp single
    while (seconds(CLOCK_MONOTONIC) - begun < length) {
#pragma omp taskgroup
        for (int i = 0; i < batch; i++) {
#pragma omp task
            if (work(rounds) < 0) sink = 1;
        }
        tasks += batch;
    }
    used = seconds(CLOCK_PROCESS_CPUTIME_ID) - used;
    printf("%ld tasks, %.2f ns of CPU time a task\n", tasks, used / tasks * 1e9);
}
