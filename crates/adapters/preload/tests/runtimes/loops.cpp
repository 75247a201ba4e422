// Loops and groups of whichever oneTBB this is linked with.
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
extern "C" long work(int n) {
    long s = 0;
    for (int round = 0; round < n; round++) {
        s += tbb::parallel_reduce(
            tbb::blocked_range<long>(0, 1000), 0L,
            [](const tbb::blocked_range<long> &r, long t) {
                for (long i = r.begin(); i < r.end(); i++) t += i;
                return t;
            },
            [](long a, long b) { return a + b; });
        tbb::task_arena arena(2);
        s += arena.execute([] {
            long a = 0, b = 0;
            tbb::task_group group;
            group.run([&] { a = 1; });
            group.run([&] { b = 2; });
            group.wait();
            return a + b;
        });
    }
    return s;
}
extern "C" long alone(int n) { return work(n); }
extern "C" long around(long (*other)(int), int n) {
    std::atomic<long> s{0};
    tbb::parallel_for(0, 8, [&](int) { s += other(n); });
    return s;
}
