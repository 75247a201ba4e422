// oneTBB's algorithms with splits that do not depend on the schedule, so that the graph is known.
// Usage: algorithms WHAT THREADS

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_for_each.h>
#include <oneapi/tbb/parallel_invoke.h>
#include <oneapi/tbb/parallel_pipeline.h>
#include <oneapi/tbb/parallel_reduce.h>
#include <oneapi/tbb/parallel_scan.h>
#include <oneapi/tbb/parallel_sort.h>
#include <oneapi/tbb/task_group.h>

using Range = tbb::blocked_range<long>;

// What a compiler can't see through.
static long work(long n) {
    volatile long x = n;
    for (int i = 0; i < 20; ++i) x = x + 1;
    return x - 20;
}

static long fib(long n) {
    if (n < 2) return n;
    long a = 0;
    tbb::task_group group;
    group.run([&a, n] { a = fib(n - 1); });
    long b = fib(n - 2);
    group.wait();
    return a + b;
}

static void run_fib() { std::printf("%ld\n", fib(20)); }

static void run_for() {
    std::vector<long> v(1024);
    tbb::parallel_for(
        Range(0, 1024, 16),
        [&](const Range &r) {
            for (long i = r.begin(); i != r.end(); ++i) v[i] = work(i);
        },
        tbb::simple_partitioner());
    std::printf("%ld\n", std::accumulate(v.begin(), v.end(), 0L));
}

template <typename Run> static void reduce(Run run) {
    long sum = run(
        Range(0, 1024, 16), 0L,
        [](const Range &r, long s) {
            for (long i = r.begin(); i != r.end(); ++i) s += work(i);
            return s;
        },
        [](long a, long b) { return a + b; });
    std::printf("%ld\n", sum);
}

static void run_reduce() {
    reduce([](auto &&...a) { return tbb::parallel_reduce(a..., tbb::simple_partitioner()); });
}

static void run_deterministic() {
    reduce([](auto &&...a) { return tbb::parallel_deterministic_reduce(a..., tbb::simple_partitioner()); });
}

static void run_scan() {
    std::vector<long> in(4096, 1), out(4096);
    long total = tbb::parallel_scan(
        Range(0, 4096, 64), 0L,
        [&](const Range &r, long sum, bool last) {
            for (long i = r.begin(); i != r.end(); ++i) {
                sum += in[i];
                if (last) out[i] = sum;
            }
            return sum;
        },
        [](long a, long b) { return a + b; });
    std::printf("%ld %ld\n", total, out[2048]);
}

static void run_invoke() {
    long v[5] = {};
    tbb::parallel_invoke([&] { v[0] = work(1); }, [&] { v[1] = work(2); }, [&] { v[2] = work(3); },
                         [&] { v[3] = work(4); }, [&] { v[4] = work(5); });
    long w[2] = {};
    tbb::parallel_invoke([&] { w[0] = work(6); }, [&] { w[1] = work(7); });
    std::printf("%ld\n", std::accumulate(v, v + 5, 0L) + w[0] + w[1]);
}

static void run_each() {
    std::list<long> items(1000);
    std::iota(items.begin(), items.end(), 0L);
    std::vector<long> out(1000);
    tbb::parallel_for_each(items.begin(), items.end(), [&](long i) { out[i] = work(i); });
    std::printf("%ld\n", std::accumulate(out.begin(), out.end(), 0L));
}

// Items are added while others are worked on: a tree of 2^12 - 1.
static void run_feeder() {
    std::vector<long> first{1};
    std::atomic<long> sum{0};
    tbb::parallel_for_each(first.begin(), first.end(), [&](long i, tbb::feeder<long> &feeder) {
        sum += work(i);
        if (2 * i + 1 < 4096) {
            feeder.add(2 * i);
            feeder.add(2 * i + 1);
        }
    });
    std::printf("%ld\n", sum.load());
}

static void run_sort() {
    std::vector<unsigned> v(200000);
    unsigned x = 1;
    for (auto &e : v) e = x = x * 1664525u + 1013904223u;
    tbb::parallel_sort(v.begin(), v.end());
    unsigned long h = 0;
    for (size_t i = 0; i < v.size(); i += 1000) h = h * 31 + v[i];
    std::printf("%lu\n", h);
}

static void run_pipeline() {
    long next = 0, sum = 0;
    tbb::parallel_pipeline(
        8, tbb::make_filter<void, long>(tbb::filter_mode::serial_in_order,
                                        [&](tbb::flow_control &fc) {
                                            if (next == 2000) {
                                                fc.stop();
                                                return 0L;
                                            }
                                            return next++;
                                        }) &
               tbb::make_filter<long, long>(tbb::filter_mode::parallel, [](long i) { return work(i); }) &
               tbb::make_filter<long, void>(tbb::filter_mode::serial_in_order, [&](long i) { sum += i; }));
    std::printf("%ld\n", sum);
}

static void run_flow() {
    using namespace tbb::flow;
    graph g;
    std::atomic<long> sum{0};
    function_node<long, long> twice(g, unlimited, [](long i) { return work(2 * i); });
    function_node<long> add(g, unlimited, [&](long i) { sum += i; });
    make_edge(twice, add);
    for (long i = 0; i < 2000; ++i) twice.try_put(i);
    g.wait_for_all();
    std::printf("%ld\n", sum.load());
}

static void run_join() {
    using namespace tbb::flow;
    graph g;
    long sum = 0;
    broadcast_node<long> start(g);
    function_node<long, long> left(g, unlimited, [](long i) { return work(i); });
    function_node<long, long> right(g, unlimited, [](long i) { return work(-i) + 1; });
    join_node<std::tuple<long, long>> both(g);
    function_node<std::tuple<long, long>> add(g, serial, [&](const std::tuple<long, long> &t) {
        sum += std::get<0>(t) + std::get<1>(t);
    });
    make_edge(start, left);
    make_edge(start, right);
    make_edge(left, input_port<0>(both));
    make_edge(right, input_port<1>(both));
    make_edge(both, add);
    for (long i = 0; i < 300; ++i) start.try_put(i);
    g.wait_for_all();
    std::printf("%ld\n", sum);
}

// Three task groups deep, a loop inside of each innermost task.
static void run_nested() {
    std::atomic<long> sum{0};
    tbb::task_group outer;
    for (int i = 0; i < 3; ++i) {
        outer.run([&, i] {
            tbb::task_group inner;
            for (int j = 0; j < 4; ++j) {
                inner.run([&, i, j] {
                    tbb::parallel_for(
                        Range(0, 8, 1), [&](const Range &r) { sum += work(r.begin() + i + j); },
                        tbb::simple_partitioner());
                });
            }
            inner.run_and_wait([&] { sum += work(100); });
        });
    }
    outer.wait();
    std::printf("%ld\n", sum.load());
}

// One context for all: a loop in a task of a loop, and both of one context.
static void run_context() {
    tbb::task_group_context context;
    std::atomic<long> sum{0};
    tbb::parallel_for(
        Range(0, 4, 1),
        [&](const Range &) {
            tbb::parallel_for(
                Range(0, 8, 1), [&](const Range &r) { sum += work(r.begin()); }, tbb::simple_partitioner(), context);
        },
        tbb::simple_partitioner(), context);
    std::printf("%ld\n", sum.load());
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism, std::atoi(argv[2]));
    struct {
        const char *name;
        void (*run)();
    } all[] = {{"fib", run_fib},       {"for", run_for},           {"reduce", run_reduce},
               {"scan", run_scan},     {"deterministic", run_deterministic},
               {"invoke", run_invoke}, {"each", run_each},         {"feeder", run_feeder},
               {"sort", run_sort},     {"pipeline", run_pipeline}, {"flow", run_flow},
               {"join", run_join},     {"nested", run_nested},     {"context", run_context}};
    for (auto &one : all) {
        if (!std::strcmp(one.name, argv[1])) {
            one.run();
            return 0;
        }
    }
    return 2;
}
