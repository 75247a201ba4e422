/* A task waits for a child that another worker has taken, while the child creates all the work there is. A worker that, in a
 * wait, runs nothing or its own children alone is lost until the child has ended (Huynh's thesis, 2017: waiting without
 * stealing at depth). */
#include <atomic>

#include "kernel.h"

struct Step {
    long leaves, rounds;
    std::atomic<bool> taken;
    std::atomic<std::uint64_t> sum;
    std::uint64_t waited; /* kept, so that the waiting is not left out */
};

static void child(Step &step) {
    step.taken.store(true, std::memory_order_relaxed);
    TP_TASKS(leaves);
    for (long i = 0; i < step.leaves; i++) {
        TP_CREATE(leaves, [i, &step] {
            step.sum.fetch_add(kernel::chain(static_cast<std::uint64_t>(i), step.rounds), std::memory_order_relaxed);
        });
    }
    TP_WAIT(leaves);
}

static void parent(Step &step) {
    TP_TASKS(one);
    TP_CREATE(one, [&step] { child(step); });
    /* Time for another worker to take it, but not for ever: there may be no other. */
    std::uint64_t waited = 0;
    for (long tries = 0; tries < 1000 && !step.taken.load(std::memory_order_relaxed); tries++)
        waited = kernel::chain(waited, 200);
    step.waited = waited;
    TP_WAIT(one);
}

int main(int count, char **words) {
    const kernel::Arguments arguments(count, words, "deep [STEPS=20] [LEAVES=100] [ROUNDS=20000]");
    const long steps = arguments.number(0, 20, 0, 1000000);
    std::uint64_t sum = 0;
    TP_RUN(arguments.workers(), [&] {
        kernel::timed(arguments, [&] {
            for (long i = 0; i < steps; i++) {
                Step step = {arguments.number(1, 100, 0, 1000000), arguments.number(2, 20000, 0, 1l << 40), {false}, {0}, 0};
                parent(step);
                sum += step.sum;
            }
        });
    });
    std::printf("waited %ld times, sum %llu\n", steps, static_cast<unsigned long long>(sum));
    return 0;
}
