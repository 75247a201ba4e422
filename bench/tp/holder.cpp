/* One task creates all the others, small ones: every task another worker runs has to be taken from the one that creates, one by
 * one (Huynh's thesis, 2017: slow steals from one worker that holds all tasks). */
#include <atomic>

#include "kernel.h"

static void hold(long tasks, long rounds, std::atomic<std::uint64_t> &sum) {
    TP_TASKS(held);
    for (long i = 0; i < tasks; i++) {
        TP_CREATE(held, [i, rounds, &sum] {
            sum.fetch_add(kernel::chain(static_cast<std::uint64_t>(i), rounds), std::memory_order_relaxed);
        });
    }
    TP_WAIT(held);
}

int main(int count, char **words) {
    const kernel::Arguments arguments(count, words, "holder [TASKS=20000] [ROUNDS=1000]");
    const long tasks = arguments.number(0, 20000, 0, 100000000), rounds = arguments.number(1, 1000, 0, 1l << 40);
    std::atomic<std::uint64_t> sum(0);
    TP_RUN(arguments.workers(), [&] { kernel::timed(arguments, [&] { hold(tasks, rounds, sum); }); });
    std::printf("held %ld tasks, sum %llu\n", tasks, static_cast<unsigned long long>(sum.load()));
    return 0;
}
