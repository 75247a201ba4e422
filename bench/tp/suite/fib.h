/* fib N CUTOFF: Fibonacci numbers by two recursive calls, the first of which is a task; from depth CUTOFF on serial. A
 * balanced binary tree of tiny tasks. */
#ifndef SUITE_FIB_H
#define SUITE_FIB_H

#include "suite.h"

namespace fib {
using namespace suite;

static u64 serial(long n) { return n < 2 ? static_cast<u64>(n) : serial(n - 1) + serial(n - 2); }

static u64 parallel(long n, long depth) {
    if (n < 2 || depth == 0)
        return serial(n);
    u64 a = 0, b = 0;
    TP_TASKS(first);
    TP_CREATE(first, [&a, n, depth] { a = parallel(n - 1, depth - 1); });
    TP_CREATE_AND_WAIT(first, [&b, n, depth] { b = parallel(n - 2, depth - 1); });
    return a + b;
}

static bool run(const Arguments &arguments) {
    const long n = std::min(arguments.number(0), 90l), cutoff = arguments.number(1);
    u64 found = 0, expected = 0, next = 1;
    timed(arguments, [&] { found = parallel(n, cutoff); });
    for (long i = 0; i < n; i++) {
        const u64 sum = expected + next;
        expected = next;
        next = sum;
    }
    return say(found == expected, "fib(%ld) = %llu", n, static_cast<unsigned long long>(found));
}

static const Program PROGRAM = {"fib", "[N] [CUTOFF]", {{20, 6}}, {{41, 12}}, {{47, 19}}, run};
} // namespace fib

#endif
