// What recording adds to a task: fib without a cut, run TIMES times on THREADS threads; the least CPU time in ns.
// Usage: uncut N THREADS TIMES
// For measuring by hand; no test runs it.

#include <cstdio>
#include <cstdlib>
#include <ctime>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_group.h>

static long fib(long n) {
    if (n < 2) return n;
    long a, b;
    tbb::task_group group;
    group.run([&a, n] { a = fib(n - 1); });
    group.run([&b, n] { b = fib(n - 2); });
    group.wait();
    return a + b;
}

static long now() {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism, std::atoi(argv[2]));
    long least = -1;
    for (int i = 0; i < std::atoi(argv[3]); ++i) {
        long start = now();
        if (fib(std::atoi(argv[1])) < 0) return 1;
        long took = now() - start;
        if (least < 0 || took < least) least = took;
    }
    std::printf("%ld\n", least);
}
