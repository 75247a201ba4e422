// tp.h: one source for OpenMP, oneTBB and the serial elision. The best value a knapsack can hold, by trying.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <workspan/tp.h>

struct Item {
    long weight, value;
};

static long best(const std::vector<Item> &items, std::size_t next, long room, long depth) {
    if (next == items.size())
        return 0;
    const Item item = items[next];
    if (item.weight > room)
        return best(items, next + 1, room, depth);
    if (depth == 0)
        return std::max(best(items, next + 1, room, 0), item.value + best(items, next + 1, room - item.weight, 0));
    long without = 0;
    TP_TASKS(halves);
    TP_CREATE(halves, [&without, &items, next, room, depth] { without = best(items, next + 1, room, depth - 1); });
    const long with = item.value + best(items, next + 1, room - item.weight, depth - 1);
    TP_WAIT(halves);
    return std::max(with, without);
}

static long fill(std::vector<Item> &items) {
    TP_FOR(0, static_cast<long>(items.size()), 4, [&items](long i) {
        items[static_cast<std::size_t>(i)] = {3 + i * 37 % 41, 5 + i * 61 % 73};
    });
    long weight = 0;
    TP_REDUCE(sum, weight, 0, static_cast<long>(items.size()), 4, [&items](long i) { return items[static_cast<std::size_t>(i)].weight; });
    return weight;
}

int main(int argc, char **argv) {
    std::vector<Item> items(argc > 1 ? static_cast<std::size_t>(std::atoi(argv[1])) : 26);
    long found = 0;
    TP_RUN(0, [&] {
        const long weight = fill(items);
        found = best(items, 0, weight / 2, 8);
    });
    std::printf("best value %ld\n", found);
}
