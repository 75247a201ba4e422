// Arenas, exceptions, cancellation, suspension: what moves tasks, or ends them early.
// Usage: arenas WHAT THREADS

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

using Range = tbb::blocked_range<long>;

static long loop(long n) {
    std::atomic<long> sum{0};
    tbb::parallel_for(
        Range(0, n, 1), [&](const Range &r) { sum += r.begin(); }, tbb::simple_partitioner());
    return sum;
}

// In an arena of its own, twice as deep, and with a value.
static void run_execute() {
    tbb::task_arena a(2), b(2);
    long x = a.execute([] { return loop(16); });
    long y = a.execute([&] { return b.execute([] { return loop(8); }) + loop(4); });
    std::printf("%ld\n", x + y);
}

// An arena of one place, which the main thread has: three other threads' calls are run by it, or wait.
static void run_full() {
    tbb::task_arena one(1);
    std::atomic<int> ready{0};
    std::atomic<long> sum{0};
    std::vector<std::thread> threads;
    one.execute([&] {
        for (int i = 0; i < 3; ++i) {
            threads.emplace_back([&] {
                ++ready;
                one.execute([&] { sum += loop(8); });
            });
        }
        while (ready != 3) std::this_thread::yield();
        sum += loop(64);
    });
    for (auto &t : threads) t.join();
    std::printf("%ld\n", sum.load());
}

static void run_enqueue() {
    tbb::task_arena arena(4);
    std::atomic<long> sum{0}, done{0};
    for (long i = 0; i < 100; ++i)
        arena.enqueue([&, i] {
            sum += i;
            ++done;
        });
    while (done != 100) std::this_thread::yield();
    tbb::task_group group;
    for (long i = 0; i < 10; ++i) arena.enqueue(group.defer([&, i] { sum += i; }));
    arena.execute([&] { group.wait(); });
    std::printf("%ld\n", sum.load());
}

static void run_isolate() {
    std::atomic<long> sum{0};
    tbb::parallel_for(
        Range(0, 8, 1),
        [&](const Range &) { tbb::this_task_arena::isolate([&] { sum += loop(16); }); }, tbb::simple_partitioner());
    std::printf("%ld\n", sum.load());
}

static void run_exceptions() {
    int caught = 0;
    for (int round = 0; round < 20; ++round) {
        try {
            tbb::task_group group;
            for (int i = 0; i < 10; ++i)
                group.run([=] {
                    if (i == 7) throw std::runtime_error("seven");
                });
            group.wait();
        } catch (const std::runtime_error &e) {
            caught += !std::strcmp(e.what(), "seven");
        }
        try {
            tbb::parallel_for(
                Range(0, 64, 1),
                [](const Range &r) {
                    if (r.begin() == 33) throw 5;
                },
                tbb::simple_partitioner());
        } catch (int five) {
            caught += five;
        }
    }
    try {
        tbb::task_arena arena(1);
        arena.execute([] { throw std::logic_error("away"); });
    } catch (const std::logic_error &) {
        ++caught;
    }
    std::printf("%d\n", caught);
}

static void run_cancel() {
    tbb::task_group group;
    std::atomic<int> ran{0};
    for (int i = 0; i < 1000; ++i)
        group.run([&] {
            if (++ran == 10) group.cancel();
        });
    bool canceled = group.wait() == tbb::canceled;
    std::printf("%d %d\n", canceled, loop(4) == 6);
}

// Twenty tasks each wait for another thread to let them go on.
static void run_suspend() {
    std::mutex lock;
    std::condition_variable filled;
    std::vector<tbb::task::suspend_point> points;
    bool over = false;
    std::thread other([&] {
        std::unique_lock<std::mutex> hold(lock);
        for (;;) {
            filled.wait(hold, [&] { return over || !points.empty(); });
            if (points.empty()) return;
            std::vector<tbb::task::suspend_point> now;
            now.swap(points);
            hold.unlock();
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            for (auto p : now) tbb::task::resume(p);
            hold.lock();
        }
    });
    std::atomic<long> sum{0};
    tbb::task_group group;
    for (int i = 0; i < 20; ++i)
        group.run([&, i] {
            sum += i;
            tbb::task::suspend([&](tbb::task::suspend_point p) {
                std::lock_guard<std::mutex> hold(lock);
                points.push_back(p);
                filled.notify_one();
            });
            sum += loop(8);
        });
    group.wait();
    {
        std::lock_guard<std::mutex> hold(lock);
        over = true;
        filled.notify_one();
    }
    other.join();
    std::printf("%ld\n", sum.load());
}

// Suspended inside a task that a waiting task runs: the waiting one's stack moves too.
static void run_buried() {
    std::atomic<long> sum{0};
    std::vector<std::thread> helpers;
    std::mutex lock;
    tbb::task_group group;
    for (int i = 0; i < 4; ++i)
        group.run([&] {
            tbb::task_group inner;
            for (int j = 0; j < 3; ++j)
                inner.run([&] {
                    tbb::task::suspend([&](tbb::task::suspend_point p) {
                        std::lock_guard<std::mutex> hold(lock);
                        helpers.emplace_back([p] { tbb::task::resume(p); });
                    });
                    ++sum;
                });
            inner.wait();
            ++sum;
        });
    group.wait();
    for (auto &t : helpers) t.join();
    std::printf("%ld\n", sum.load());
}

// Calls back from a thread of its own for each suspended task.
class Callers {
    std::mutex lock;
    std::vector<std::thread> threads;

public:
    void call(tbb::task::suspend_point p) {
        std::lock_guard<std::mutex> hold(lock);
        threads.emplace_back([p] { tbb::task::resume(p); });
    }
    void join() {
        for (auto &t : threads) t.join();
    }
};

// Suspended in a loop inside of a loop, in an arena: loops that wait are left aside by their threads.
static void run_inside() {
    std::atomic<long> sum{0};
    Callers callers;
    tbb::task_arena arena(4);
    arena.execute([&] {
        tbb::parallel_for(
            Range(0, 4, 1),
            [&](const Range &) {
                tbb::parallel_for(
                    Range(0, 4, 1),
                    [&](const Range &r) {
                        tbb::task::suspend([&](tbb::task::suspend_point p) { callers.call(p); });
                        sum += r.begin();
                    },
                    tbb::simple_partitioner());
            },
            tbb::simple_partitioner());
    });
    callers.join();
    std::printf("%ld\n", sum.load());
}

// The callback itself lets its task go on, or creates the task that does.
static void run_callback() {
    std::atomic<long> sum{0};
    tbb::task_group group;
    for (int i = 0; i < 10; ++i)
        group.run([&, i] {
            tbb::task::suspend([&](tbb::task::suspend_point p) {
                sum += i;
                tbb::task::resume(p);
            });
            sum += loop(4);
        });
    group.wait();
    for (int i = 0; i < 10; ++i)
        group.run([&] {
            tbb::task::suspend([&](tbb::task::suspend_point p) {
                group.run([&sum, p] {
                    sum += 100;
                    tbb::task::resume(p);
                });
            });
            ++sum;
        });
    group.wait();
    std::printf("%ld\n", sum.load());
}

// Threads from outside, each with a loop of its own.
static void run_threads() {
    std::atomic<long> sum{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) threads.emplace_back([&] { sum += loop(32); });
    for (auto &t : threads) t.join();
    std::printf("%ld\n", sum.load());
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism, std::atoi(argv[2]));
    struct {
        const char *name;
        void (*run)();
    } all[] = {{"execute", run_execute}, {"full", run_full},       {"enqueue", run_enqueue},
               {"isolate", run_isolate}, {"cancel", run_cancel},   {"exceptions", run_exceptions},
               {"suspend", run_suspend}, {"buried", run_buried},   {"threads", run_threads},
               {"inside", run_inside},   {"callback", run_callback}};
    for (auto &one : all) {
        if (!std::strcmp(one.name, argv[1])) {
            one.run();
            return 0;
        }
    }
    return 2;
}
