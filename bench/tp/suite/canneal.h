/* canneal ELEMENTS STEPS SWAPS GRAIN: simulated annealing of the wire length of a net list on a grid. STEPS temperatures in
 * sequence, in each a loop that creates leaf tasks of GRAIN swaps. Elements are swapped under a lock of each and read without
 * one, so the result depends on the schedule; that every place is still taken once does not. */
#ifndef SUITE_CANNEAL_H
#define SUITE_CANNEAL_H

#include "suite.h"

namespace canneal {
using namespace suite;

static const long LOCKED = 1l << 40;

struct Netlist {
    long n, side;
    std::vector<std::atomic<long>> place; /* of each element, on the grid */
    std::vector<std::array<long, 4>> wires;

    Netlist(long count) : n(count), side(std::max(1l, static_cast<long>(std::sqrt(static_cast<double>(count))))), place(at(count)), wires(at(count)) {
        for (long i = 0; i < n; i++) {
            place[at(i)].store(i);
            for (long k = 0; k < 4; k++)
                wires[at(i)][at(k)] = static_cast<long>(mixed(static_cast<u64>(4 * i + k)) % static_cast<u64>(n));
        }
    }
    long read(long i) const { return place[at(i)].load(std::memory_order_relaxed) & ~LOCKED; }
    long distance(long a, long b) const { return std::labs(a % side - b % side) + std::labs(a / side - b / side); }
    long length(long i, long where) const {
        long sum = 0;
        for (long other : wires[at(i)])
            sum += distance(where, read(other));
        return sum;
    }
    long lock(long i) {
        for (;;) {
            long now = read(i);
            if (place[at(i)].compare_exchange_weak(now, now | LOCKED, std::memory_order_acquire))
                return now;
        }
    }
    void swap(long a, long b) {
        const long low = lock(std::min(a, b)), high = lock(std::max(a, b));
        place[at(std::min(a, b))].store(high, std::memory_order_release);
        place[at(std::max(a, b))].store(low, std::memory_order_release);
    }
    long total() const {
        long sum = 0;
        for (long i = 0; i < n; i++)
            sum += length(i, read(i));
        return sum;
    }
};

/* Tries swaps that depend on step and task alone; how many were made. */
static long leaf(Netlist &net, u64 seed, long swaps, double temperature) {
    long made = 0;
    for (long i = 0; i < swaps; i++) {
        const u64 draw = mixed(seed * 1000 + static_cast<u64>(i));
        const long a = static_cast<long>((draw >> 32) % static_cast<u64>(net.n)), b = static_cast<long>((draw & 0xffffffff) % static_cast<u64>(net.n));
        if (a == b)
            continue;
        const long pa = net.read(a), pb = net.read(b);
        const double change = static_cast<double>(net.length(a, pb) + net.length(b, pa) - net.length(a, pa) - net.length(b, pb));
        if (change < 0 || unit(draw) < std::exp(-change / temperature)) {
            net.swap(a, b);
            made++;
        }
    }
    return made;
}

static bool run(const Arguments &arguments) {
    const long steps = arguments.number(1), swaps = arguments.number(2), grain = std::max(arguments.number(3), 1l);
    const long tasks = (swaps + grain - 1) / grain;
    Netlist net(std::max(arguments.number(0), 4l));
    const long before = net.total();
    std::vector<long> made(at(tasks));
    timed(arguments, [&] {
        double temperature = static_cast<double>(net.side);
        for (long step = 0; step < steps; step++, temperature *= 0.8) {
            TP_TASKS(leaves);
            for (long i = 0; i < tasks; i++) {
                Netlist *all = &net;
                long *out = &made[at(i)];
                const u64 seed = static_cast<u64>(step * tasks + i);
                const long count = std::min(grain, swaps - i * grain);
                TP_CREATE(leaves, [=] { *out += leaf(*all, seed, count, temperature); });
            }
            TP_WAIT(leaves);
        }
    });
    std::vector<bool> taken(at(net.n));
    for (long i = 0; i < net.n; i++)
        taken[at(net.read(i))] = true;
    const bool permutation = std::find(taken.begin(), taken.end(), false) == taken.end();
    const bool shorter = net.total() < before;
    return say(permutation && shorter, "annealed %ld elements, shorter %d", net.n, shorter ? 1 : 0);
}

static const Program PROGRAM = {"canneal", "[ELEMENTS] [STEPS] [SWAPS] [GRAIN]", {{900, 8, 2000, 100}}, {{100000, 150, 15000, 100}},
                                {{2500000, 6000, 15000, 100}}, run};
} // namespace canneal

#endif
