/* One task creates small tasks faster than they are run, and now and then a long one. Where the queue is bounded the creator
 * has to run tasks itself; should it meet a long one, nobody creates, and the others run dry (Huynh's thesis, 2017). */
#include <atomic>

#include "kernel.h"

static void fill(long tasks, long rounds, long every, std::atomic<std::uint64_t> &sum) {
    TP_TASKS(queued);
    for (long i = 0; i < tasks; i++) {
        const long mine = i % every == every / 2 ? rounds * every : rounds;
        TP_CREATE(queued, [i, mine, &sum] {
            sum.fetch_add(kernel::chain(static_cast<std::uint64_t>(i), mine), std::memory_order_relaxed);
        });
    }
    TP_WAIT(queued);
}

int main(int count, char **words) {
    const kernel::Arguments arguments(count, words, "queue [TASKS=20000] [ROUNDS=400] [EVERY=2000]");
    const long tasks = arguments.number(0, 20000, 0, 100000000), rounds = arguments.number(1, 400, 0, 1l << 40),
               every = arguments.number(2, 2000, 1, 1l << 20);
    std::atomic<std::uint64_t> sum(0);
    TP_RUN(arguments.workers(), [&] { kernel::timed(arguments, [&] { fill(tasks, rounds, every, sum); }); });
    std::printf("queued %ld tasks, sum %llu\n", tasks, static_cast<unsigned long long>(sum.load()));
    return 0;
}
