/* A task creates one child, works as long as the child will, then waits for it. Started at once, on a free worker, the child
 * costs nothing; left until its parent waits, it doubles the time (Huynh's thesis, 2017: children delayed until the
 * wait). */
#include "kernel.h"

static std::uint64_t step(std::uint64_t seed, long rounds) {
    std::uint64_t childs = 0;
    TP_TASKS(one);
    TP_CREATE(one, [&childs, seed, rounds] { childs = kernel::chain(seed, rounds); });
    const std::uint64_t own = kernel::chain(~seed, rounds);
    TP_WAIT(one);
    return own + childs;
}

int main(int count, char **words) {
    const kernel::Arguments arguments(count, words, "late [STEPS=200] [ROUNDS=200000]");
    const long steps = arguments.number(0, 200, 0, 100000000), rounds = arguments.number(1, 200000, 0, 1l << 40);
    std::uint64_t sum = 0;
    TP_RUN(arguments.workers(), [&] {
        kernel::timed(arguments, [&] {
            for (long i = 0; i < steps; i++)
                sum += step(static_cast<std::uint64_t>(i), rounds);
        });
    });
    std::printf("stepped %ld times, sum %llu\n", steps, static_cast<unsigned long long>(sum));
    return 0;
}
