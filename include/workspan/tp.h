/* tp.h: one task-parallel source for many runtimes. C++11 or later; nothing of workspan is linked in.
 *
 * A macro chooses what the constructs below become:
 *
 *     TP_SERIAL     nothing: the serial elision, what a speedup is measured against (the default)
 *     TP_OPENMP     OpenMP tasks; compile with -fopenmp. OpenMP 5.0 is asked for by TP_REDUCE alone
 *     TP_TBB        oneTBB; link with -ltbb
 *     TP_MYTH       MassiveThreads; link with -lmyth (tp_threads.h)
 *     TP_QTHREADS   Qthreads; link with -lqthread (tp_threads.h)
 *     TP_WORKSPAN   the serial elision again, which tells each construct through workspan.h: recorded, the whole task
 *                   graph of the program from a run on one thread and without any runtime
 *
 *     long fib(int n) {
 *         if (n < 2)
 *             return n;
 *         long a, b;
 *         TP_TASKS(t);
 *         TP_CREATE(t, [&a, n] { a = fib(n - 1); });
 *         b = fib(n - 2);
 *         TP_WAIT(t);
 *         return a + b;
 *     }
 *     int main() { TP_RUN(0, [] { std::printf("%ld\n", fib(30)); }); }
 *
 * Constructs are macros so that each stands, for a profiler, at the line where it is used (one written inside the body of
 * another, at that one's: the preprocessor knows no better; a function in between helps). A body is a function object
 * without arguments, a lambda as a rule; that of a task is copied. No exception may leave a body, and a wait has to be
 * reached on every way out of the block.
 *
 *     TP_RUN(workers, body)                  the body, as the first task, on that many workers; 0: as the runtime chooses
 *     TP_TASKS(t)                            declares t, the tasks that the task running here creates in this block
 *     TP_CREATE(t, body)                     creates a task; another worker may take it
 *     TP_WAIT(t)                             waits for the tasks of t
 *     TP_GROUP(g, body)                      the body; then waits for all tasks created into g, by the body or by tasks of
 *                                            g, and so on down. A task is given g by reference (tp::tasks &)
 *     TP_CALL(body)                          calls the body here: no task
 *     TP_CREATE_AND_WAIT(t, body)            calls the body here, then waits for the tasks of t: the last half of a recursion
 *     TP_FOR(first, last, grain, body)       body(i) for all i of [first, last), in tasks of about `grain` each; waits
 *     TP_REDUCE(op, result, first, last, grain, body)
 *                                            the same, and `result` becomes what it was, combined with body(i) for all i
 *                                            in an order nobody knows. op: sum, product, min, max, and_bits, or_bits,
 *                                            xor_bits; result is of an arithmetic type
 *     TP_PFOR(first, last, grain, leaf)      leaf(a, b) for pieces of [first, last): halves the range until `grain` iterations or
 *                                            fewer are left; the left half is a task, the right half a call. The same tasks
 *                                            on every runtime, which TP_FOR leaves to the runtime. Waits
 *     TP_PFOR_REDUCE(result, first, last, grain, leaf, combine)
 *                                            the same tree; `result` becomes combine(left, right) of what leaf(a, b) returned,
 *                                            in the order of the range: reproducible for a fixed grain. leaf is a name, or an
 *                                            expression without a comma outside parentheses; an empty range leaves `result`
 *
 * With OpenMP tasks are tied, as they are by default there; -DTP_UNTIED makes those of TP_CREATE untied.
 *
 * With OpenMP, TP_WAIT waits for all children of the task. A task of a group shall therefore not use TP_TASKS in between
 * its creates into the group when it relies on not waiting for them.
 */
#ifndef WORKSPAN_TP_H
#define WORKSPAN_TP_H

#if defined(TP_SERIAL) + defined(TP_OPENMP) + defined(TP_TBB) + defined(TP_MYTH) + defined(TP_QTHREADS) + defined(TP_WORKSPAN) > 1
#error "define one of TP_SERIAL, TP_OPENMP, TP_TBB, TP_MYTH, TP_QTHREADS, TP_WORKSPAN"
#endif
#if defined(TP_OPENMP) && !defined(_OPENMP)
#error "TP_OPENMP needs OpenMP switched on (-fopenmp)"
#endif

#include <functional>
#include <limits>
#include <type_traits>

#if defined(TP_OPENMP)
#include <omp.h>
#elif defined(TP_TBB)
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_reduce.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#elif defined(TP_WORKSPAN)
#include "../workspan.h"
#endif

namespace tp {

/* What TP_REDUCE combines with: the neutral element, and the combination. */
namespace combine {
template <class T> struct sum {
    static T neutral() { return T(0); }
    static T of(T a, T b) { return a + b; }
};
template <class T> struct product {
    static T neutral() { return T(1); }
    static T of(T a, T b) { return a * b; }
};
template <class T> struct min {
    static T neutral() { return std::numeric_limits<T>::max(); }
    static T of(T a, T b) { return b < a ? b : a; }
};
template <class T> struct max {
    static T neutral() { return std::numeric_limits<T>::lowest(); }
    static T of(T a, T b) { return a < b ? b : a; }
};
template <class T> struct and_bits {
    static T neutral() { return T(~T(0)); }
    static T of(T a, T b) { return T(a & b); }
};
template <class T> struct or_bits {
    static T neutral() { return T(0); }
    static T of(T a, T b) { return T(a | b); }
};
template <class T> struct xor_bits {
    static T neutral() { return T(0); }
    static T of(T a, T b) { return T(a ^ b); }
};
} // namespace combine

/* A range's step, at least 1. */
inline long grain_(long grain) { return grain < 1 ? 1 : grain; }

} // namespace tp

#define TP_OP_(name, value) tp::combine::name<std::remove_reference<decltype(value)>::type>

#if defined(TP_OPENMP)

namespace tp {

/* The runtime that the source is compiled for. */
inline const char *runtime() { return "OpenMP"; }

/* Tasks waited for together. OpenMP knows them as the children of a task. */
struct tasks {};

inline int workers_(int workers) { return workers > 0 ? workers : omp_get_max_threads(); }

} // namespace tp

#define TP_PRAGMA_(...) _Pragma(#__VA_ARGS__)
#if defined(TP_UNTIED)
#define TP_PRAGMA_TASK_ TP_PRAGMA_(omp task untied default(shared) firstprivate(tp_body_))
#else
#define TP_PRAGMA_TASK_ TP_PRAGMA_(omp task default(shared) firstprivate(tp_body_))
#endif

#define TP_RUN(workers, ...)                                                                                           \
    do {                                                                                                               \
        auto tp_body_ = __VA_ARGS__;                                                                                   \
        const int tp_workers_ = tp::workers_(workers);                                                                 \
        TP_PRAGMA_(omp parallel num_threads(tp_workers_) shared(tp_body_))                                             \
        {                                                                                                              \
            TP_PRAGMA_(omp single nowait)                                                                              \
            tp_body_();                                                                                                \
        }                                                                                                              \
    } while (0)

#define TP_TASKS(t)                                                                                                    \
    tp::tasks t;                                                                                                       \
    (void)t

#define TP_CREATE(t, ...)                                                                                              \
    do {                                                                                                               \
        (void)(t);                                                                                                     \
        auto tp_body_ = __VA_ARGS__;                                                                                   \
        TP_PRAGMA_TASK_                                                                                                \
        tp_body_();                                                                                                    \
    } while (0)

#define TP_WAIT(t)                                                                                                     \
    do {                                                                                                               \
        (void)(t);                                                                                                     \
        TP_PRAGMA_(omp taskwait)                                                                                       \
    } while (0)

#define TP_GROUP(g, ...)                                                                                               \
    do {                                                                                                               \
        TP_TASKS(g);                                                                                                   \
        auto tp_body_ = __VA_ARGS__;                                                                                   \
        TP_PRAGMA_(omp taskgroup)                                                                                      \
        tp_body_();                                                                                                    \
    } while (0)

#define TP_FOR(first, last, grain, ...)                                                                                \
    do {                                                                                                               \
        auto tp_body_ = __VA_ARGS__;                                                                                   \
        long tp_first_ = first, tp_last_ = last, tp_grain_ = tp::grain_(grain);                                        \
        TP_PRAGMA_(omp taskloop grainsize(tp_grain_) default(shared))                                                  \
        for (long tp_i_ = tp_first_; tp_i_ < tp_last_; ++tp_i_)                                                        \
            tp_body_(tp_i_);                                                                                           \
    } while (0)

#define TP_REDUCE(op, result, first, last, grain, ...)                                                                 \
    do {                                                                                                               \
        auto tp_body_ = __VA_ARGS__;                                                                                   \
        long tp_first_ = first, tp_last_ = last, tp_grain_ = tp::grain_(grain);                                        \
        std::remove_reference<decltype(result)>::type tp_all_ = TP_OP_(op, result)::neutral();                \
        TP_PRAGMA_(omp taskloop grainsize(tp_grain_) default(shared) reduction(TP_SIGN_##op : tp_all_))                \
        for (long tp_i_ = tp_first_; tp_i_ < tp_last_; ++tp_i_)                                                        \
            tp_all_ = TP_OP_(op, result)::of(tp_all_, tp_body_(tp_i_));                                                \
        result = TP_OP_(op, result)::of(result, tp_all_);                                                              \
    } while (0)

#define TP_SIGN_sum +
#define TP_SIGN_product *
#define TP_SIGN_min min
#define TP_SIGN_max max
#define TP_SIGN_and_bits &
#define TP_SIGN_or_bits |
#define TP_SIGN_xor_bits ^

#elif defined(TP_TBB)

namespace tp {

inline const char *runtime() { return "oneTBB"; }

struct tasks {
    tbb::task_group group;
};

template <class Body> void run_(int workers, const Body &body) {
    if (workers <= 0) {
        body();
        return;
    }
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(workers));
    /* The arena a thread has by itself has a slot for each CPU, whatever the limit is. */
    if (workers == tbb::this_task_arena::max_concurrency()) {
        body();
    } else {
        tbb::task_arena arena(workers);
        arena.execute(body);
    }
}

} // namespace tp

#define TP_RUN(workers, ...) tp::run_(workers, __VA_ARGS__)
#define TP_TASKS(t) tp::tasks t
#define TP_CREATE(t, ...) (t).group.run(__VA_ARGS__)
#define TP_WAIT(t) ((void)(t).group.wait())
#define TP_GROUP(g, ...)                                                                                               \
    do {                                                                                                               \
        tp::tasks g;                                                                                                   \
        auto tp_body_ = __VA_ARGS__;                                                                                   \
        tp_body_();                                                                                                    \
        g.group.wait();                                                                                                \
    } while (0)

#define TP_FOR(first, last, grain, ...)                                                                                \
    do {                                                                                                               \
        auto tp_body_ = __VA_ARGS__;                                                                                   \
        tbb::parallel_for(                                                                                             \
            tbb::blocked_range<long>(first, last, static_cast<std::size_t>(tp::grain_(grain))),                        \
            [&tp_body_](const tbb::blocked_range<long> &tp_range_) {                                                   \
                for (long tp_i_ = tp_range_.begin(); tp_i_ < tp_range_.end(); ++tp_i_)                                 \
                    tp_body_(tp_i_);                                                                                   \
            },                                                                                                         \
            tbb::simple_partitioner());                                                                                \
    } while (0)

#define TP_REDUCE(op, result, first, last, grain, ...)                                                                 \
    do {                                                                                                               \
        auto tp_body_ = __VA_ARGS__;                                                                                   \
        typedef TP_OP_(op, result) tp_op_;                                                                             \
        typedef std::remove_reference<decltype(result)>::type tp_value_;                                      \
        result = tp_op_::of(result, tbb::parallel_reduce(                                                              \
            tbb::blocked_range<long>(first, last, static_cast<std::size_t>(tp::grain_(grain))),                        \
            tp_op_::neutral(),                                                                                         \
            [&tp_body_](const tbb::blocked_range<long> &tp_range_, tp_value_ tp_all_) -> tp_value_ {                   \
                for (long tp_i_ = tp_range_.begin(); tp_i_ < tp_range_.end(); ++tp_i_)                                 \
                    tp_all_ = tp_op_::of(tp_all_, tp_body_(tp_i_));                                                    \
                return tp_all_;                                                                                        \
            },                                                                                                         \
            tp_op_::of, tbb::simple_partitioner()));                                                                   \
    } while (0)

#elif defined(TP_MYTH) || defined(TP_QTHREADS)

#include "tp_threads.h"

#else /* TP_SERIAL, TP_WORKSPAN */

namespace tp {

#if defined(TP_WORKSPAN)

inline const char *runtime() { return "serial, told by workspan.h"; }

struct tasks {
    workspan_scope scope;
    tasks() : scope(0) {}

    template <class Body> void create(workspan_site *site, Body body) {
        if (scope == 0)
            scope = workspan_open_group();
        workspan_begin(workspan_create(site, scope));
        body();
        workspan_end();
    }
    void wait(workspan_site *site) {
        if (scope == 0)
            return;
        workspan_wait_scope(site, scope);
        workspan_resume();
        scope = 0;
    }
};

#define TP_CREATE(t, ...)                                                                                              \
    do {                                                                                                               \
        static workspan_site tp_site_ = WORKSPAN_HERE;                                                                 \
        (t).create(&tp_site_, __VA_ARGS__);                                                                            \
    } while (0)
#define TP_WAIT(t)                                                                                                     \
    do {                                                                                                               \
        static workspan_site tp_site_ = WORKSPAN_HERE;                                                                 \
        (t).wait(&tp_site_);                                                                                           \
    } while (0)

#else

inline const char *runtime() { return "serial elision"; }

struct tasks {};

#define TP_CREATE(t, ...)                                                                                              \
    do {                                                                                                               \
        (void)(t);                                                                                                     \
        auto tp_body_ = __VA_ARGS__;                                                                                   \
        tp_body_();                                                                                                    \
    } while (0)
#define TP_WAIT(t) ((void)(t))

#endif

} // namespace tp

#define TP_RUN(workers, ...)                                                                                           \
    do {                                                                                                               \
        (void)(workers);                                                                                               \
        auto tp_body_ = __VA_ARGS__;                                                                                   \
        tp_body_();                                                                                                    \
    } while (0)
#define TP_TASKS(t)                                                                                                    \
    tp::tasks t;                                                                                                       \
    (void)t
#define TP_GROUP(g, ...)                                                                                               \
    do {                                                                                                               \
        TP_TASKS(g);                                                                                                   \
        auto tp_group_body_ = __VA_ARGS__;                                                                             \
        tp_group_body_();                                                                                              \
        TP_WAIT(g);                                                                                                    \
    } while (0)

/* With workspan.h a chunk is a task, as in the other runtimes; without, the loop stays the loop it is. */
#define TP_FOR(first, last, grain, ...)                                                                                \
    do {                                                                                                               \
        auto tp_each_ = __VA_ARGS__;                                                                                   \
        const long tp_last_ = last;                                                                                    \
        TP_TASKS(tp_chunks_);                                                                                          \
        for (long tp_at_ = first, tp_to_; tp_at_ < tp_last_; tp_at_ = tp_to_) {                                        \
            tp_to_ = TP_CHUNK_(tp_at_, tp_last_, grain);                                                               \
            TP_CREATE(tp_chunks_, [&tp_each_, tp_at_, tp_to_] {                                                        \
                for (long tp_i_ = tp_at_; tp_i_ < tp_to_; ++tp_i_)                                                     \
                    tp_each_(tp_i_);                                                                                   \
            });                                                                                                        \
        }                                                                                                              \
        TP_WAIT(tp_chunks_);                                                                                           \
    } while (0)

#define TP_REDUCE(op, result, first, last, grain, ...)                                                                 \
    do {                                                                                                               \
        auto tp_value_ = __VA_ARGS__;                                                                                  \
        auto &tp_all_ = result;                                                                                        \
        TP_FOR(first, last, grain, [&tp_value_, &tp_all_](long tp_k_) {                                                \
            tp_all_ = TP_OP_(op, tp_all_)::of(tp_all_, tp_value_(tp_k_));                                              \
        });                                                                                                            \
    } while (0)

#if defined(TP_WORKSPAN)
#define TP_CHUNK_(at, last, grain) ((last) - (at) > tp::grain_(grain) ? (at) + tp::grain_(grain) : (last))
#else
#define TP_CHUNK_(at, last, grain) ((void)(grain), (void)(at), (last))
#endif

#endif

/* What is built of the constructs above, and so is the same everywhere. */

#define TP_CALL(...)                                                                                                   \
    do {                                                                                                               \
        auto tp_called_ = __VA_ARGS__;                                                                                 \
        tp_called_();                                                                                                  \
    } while (0)

#define TP_CREATE_AND_WAIT(t, ...)                                                                                     \
    do {                                                                                                               \
        TP_CALL(__VA_ARGS__);                                                                                          \
        TP_WAIT(t);                                                                                                    \
    } while (0)

#define TP_PFOR(first, last, grain, ...)                                                                               \
    do {                                                                                                               \
        auto tp_leaf_ = __VA_ARGS__;                                                                                   \
        const long tp_from_ = first, tp_end_ = last, tp_least_ = tp::grain_(grain);                                    \
        std::function<void(long, long)> tp_split_ = [&](long tp_a_, long tp_b_) {                                      \
            if (tp_b_ - tp_a_ <= tp_least_) {                                                                          \
                tp_leaf_(tp_a_, tp_b_);                                                                                \
                return;                                                                                                \
            }                                                                                                          \
            const long tp_mid_ = tp_a_ + (tp_b_ - tp_a_) / 2;                                                          \
            TP_TASKS(tp_left_);                                                                                        \
            TP_CREATE(tp_left_, [&tp_split_, tp_a_, tp_mid_] { tp_split_(tp_a_, tp_mid_); });                          \
            tp_split_(tp_mid_, tp_b_);                                                                                 \
            TP_WAIT(tp_left_);                                                                                         \
        };                                                                                                             \
        if (tp_from_ < tp_end_)                                                                                        \
            tp_split_(tp_from_, tp_end_);                                                                              \
    } while (0)

#define TP_PFOR_REDUCE(result, first, last, grain, leaf, ...)                                                          \
    do {                                                                                                               \
        typedef std::remove_reference<decltype(result)>::type tp_kind_;                                                \
        auto tp_leaf_ = leaf;                                                                                          \
        auto tp_combine_ = __VA_ARGS__;                                                                                \
        const long tp_from_ = first, tp_end_ = last, tp_least_ = tp::grain_(grain);                                    \
        std::function<void(long, long, tp_kind_ *)> tp_split_ = [&](long tp_a_, long tp_b_, tp_kind_ *tp_out_) {       \
            if (tp_b_ - tp_a_ <= tp_least_) {                                                                          \
                *tp_out_ = tp_leaf_(tp_a_, tp_b_);                                                                     \
                return;                                                                                                \
            }                                                                                                          \
            const long tp_mid_ = tp_a_ + (tp_b_ - tp_a_) / 2;                                                          \
            tp_kind_ tp_one_ = tp_kind_(), tp_two_ = tp_kind_();                                                       \
            TP_TASKS(tp_left_);                                                                                        \
            TP_CREATE(tp_left_, [&tp_split_, &tp_one_, tp_a_, tp_mid_] { tp_split_(tp_a_, tp_mid_, &tp_one_); });      \
            tp_split_(tp_mid_, tp_b_, &tp_two_);                                                                       \
            TP_WAIT(tp_left_);                                                                                         \
            *tp_out_ = tp_combine_(tp_one_, tp_two_);                                                                  \
        };                                                                                                             \
        if (tp_from_ < tp_end_)                                                                                        \
            tp_split_(tp_from_, tp_end_, &(result));                                                                   \
    } while (0)

#endif
