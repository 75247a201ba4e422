/* Fibonacci numbers by the defining recursion: the smallest task there is; with ROUNDS, as much work before each of them. */
#include "kernel.h"

static long serial(long n) { return n < 2 ? n : serial(n - 1) + serial(n - 2); }

/* Work that nobody needs, but the compiler can't know. */
static void work(long n, long rounds) {
    const std::uint64_t done = kernel::chain(static_cast<std::uint64_t>(n), rounds);
    __asm__ volatile("" : : "r"(done));
}

static long working(long n, long grain, long rounds) {
    work(n, rounds);
    if (n < grain)
        return serial(n);
    long a = 0;
    TP_TASKS(t);
    TP_CREATE(t, [&a, n, grain, rounds] { a = working(n - 1, grain, rounds); });
    const long b = working(n - 2, grain, rounds);
    TP_WAIT(t);
    return a + b;
}

static long fib(long n, long grain) {
    if (n < grain)
        return serial(n);
    long a = 0;
    TP_TASKS(t);
    TP_CREATE(t, [&a, n, grain] { a = fib(n - 1, grain); });
    const long b = fib(n - 2, grain);
    TP_WAIT(t);
    return a + b;
}

int main(int count, char **words) {
    const kernel::Arguments arguments(count, words, "fib [N=32] [GRAIN=2] [ROUNDS=0]");
    const long n = arguments.number(0, 32, 0, 90), grain = arguments.number(1, 2, 2, 90);
    const long rounds = arguments.number(2, 0, 0, 1L << 40);
    long found = 0;
    TP_RUN(arguments.workers(), [&] {
        kernel::timed(arguments, [&] { found = rounds > 0 ? working(n, grain, rounds) : fib(n, grain); });
    });
    long a = 0, b = 1;
    for (long i = 0; i < n; i++) {
        const long next = a + b;
        a = b;
        b = next;
    }
    std::printf("fib(%ld) = %ld\n", n, found);
    return kernel::finish(found == a);
}
