// Many very short tasks, in the way that the argument says; prints what they computed, and how many tasks there were.
// Usage: short WHAT THREADS

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_invoke.h>
#include <oneapi/tbb/parallel_reduce.h>
#include <oneapi/tbb/task.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

using Range = tbb::blocked_range<long>;

static std::atomic<long> tasks{0};

static long fib(long n) {
    if (n < 2) return n;
    long a = 0;
    tbb::task_group group;
    group.run([&a, n] { ++tasks, a = fib(n - 1); });
    long b = fib(n - 2);
    group.wait();
    return a + b;
}

static long invoke(long n) {
    if (n < 2) return n;
    long a = 0, b = 0;
    tasks += 2;
    tbb::parallel_invoke([&a, n] { a = invoke(n - 1); }, [&b, n] { b = invoke(n - 2); });
    return a + b;
}

// Groups of tasks whose tasks are loops, and sums of sums.
static long loops(long depth) {
    std::atomic<long> sum{0};
    if (depth == 0) return 1;
    tbb::task_group group;
    for (int i = 0; i < 2; ++i)
        group.run([&sum, depth] {
            tasks += 8;
            tbb::parallel_for(
                Range(0, 4, 1), [&](const Range &r) { sum += r.begin() & 1 ? loops(depth - 1) : 1; },
                tbb::simple_partitioner());
        });
    group.wait();
    tasks += 7;
    return sum + tbb::parallel_reduce(
                     Range(0, 4, 1), 0L, [](const Range &r, long s) { return s + r.begin(); },
                     [](long a, long b) { return a + b; }, tbb::simple_partitioner());
}

// Every second level waits for nobody: a group from further out has its tasks.
static void grow(int depth, tbb::task_group *outer, std::atomic<long> *leaves) {
    if (depth == 0) {
        ++*leaves;
        return;
    }
    tbb::task_group own;
    tbb::task_group &into = depth & 1 ? own : *outer;
    for (int i = 0; i < 3; ++i) into.run([=] { ++tasks, grow(depth - 1, outer, leaves); });
    own.wait();
}

// The same, with a group that lives as long as its tasks do.
static void deep(int depth, tbb::task_group &group, std::atomic<long> &leaves) {
    if (depth == 0) ++leaves;
    for (int i = 0; i < 2 && depth > 0; ++i) group.run([=, &group, &leaves] { ++tasks, deep(depth - 1, group, leaves); });
}

// One in many throws, or cancels its group.
static long thrown(long n) {
    if (n < 2) return n;
    std::atomic<long> a{0};
    tbb::task_group group;
    long caught = 0;
    group.run([&a, n] {
        ++tasks, a = thrown(n - 1);
        if (n % 5 == 0) throw n;
    });
    long b = thrown(n - 2);
    try {
        group.wait();
    } catch (long) {
        caught = 1;
    }
    tbb::task_group given_up;
    given_up.cancel();
    given_up.run([] { ++tasks; });
    given_up.wait();
    return a + b + caught;
}

// Waits for other threads to let tasks go on, now and then, deep inside.
static std::mutex lock;
static std::vector<std::thread> callers;

static long suspended(long n) {
    if (n < 2) return n;
    long a = 0;
    tbb::task_group group;
    group.run([&a, n] {
        ++tasks, a = suspended(n - 1);
        if (n == 12)
            tbb::task::suspend([](tbb::task::suspend_point p) {
                std::lock_guard<std::mutex> hold(lock);
                callers.emplace_back([p] { tbb::task::resume(p); });
            });
    });
    long b = suspended(n - 2);
    group.wait();
    return a + b;
}

// Now and then in an arena, in isolation, or handed to nobody.
static std::atomic<long> detached{0}, awaited{0};

static long mixed(long n) {
    if (n < 2) return n;
    long a = 0, b = 0;
    tbb::task_group group;
    group.run([&a, n] { ++tasks, a = mixed(n - 1); });
    if (n == 9) {
        tbb::task_arena arena(2);
        arena.execute([&b, n] { b = mixed(n - 2); });
    } else if (n == 11) {
        tbb::this_task_arena::isolate([&b, n] { b = mixed(n - 2); });
    } else {
        b = mixed(n - 2);
    }
    if (n == 10) {
        ++awaited;
        tbb::this_task_arena::enqueue([] { ++tasks, ++detached; });
    }
    group.wait();
    return a + b;
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism, std::atoi(argv[2]));
    const char *way = argv[1];
    std::atomic<long> leaves{0};
    tbb::task_group outer;
    long result = 0;
    if (!std::strcmp(way, "fib")) result = fib(22);
    if (!std::strcmp(way, "invoke")) result = invoke(20);
    if (!std::strcmp(way, "loops")) result = loops(6);
    if (!std::strcmp(way, "grow")) {
        for (int i = 0; i < 20; ++i) outer.run([&] { grow(7, &outer, &leaves); });
        outer.wait();
    }
    if (!std::strcmp(way, "deep")) {
        // Too long, each of them, to be left out whole.
        for (int i = 0; i < 16; ++i)
            outer.run([&leaves] {
                tbb::task_group group;
                deep(10, group, leaves);
                group.wait();
            });
        outer.wait();
        deep(10, outer, leaves);
        outer.wait();
    }
    if (!std::strcmp(way, "thrown")) result = thrown(19);
    if (!std::strcmp(way, "suspended")) {
        result = suspended(20);
        for (auto &caller : callers) caller.join();
    }
    if (!std::strcmp(way, "mixed")) {
        result = mixed(20);
        while (detached != awaited) std::this_thread::yield();
    }
    std::printf("%ld %ld\n", result + leaves, tasks.load());
}
