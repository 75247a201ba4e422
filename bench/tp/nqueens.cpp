/* Counts the placements of N queens that do not attack each other: an irregular tree of tasks, waited for together. From row
 * GRAIN on a task counts serially. */
#include <atomic>

#include "kernel.h"

static const long SOLUTIONS[17] = {1,   1,   0,    0,     2,     10,     4,       40,      92,
                                   352, 724, 2680, 14200, 73712, 365596, 2279184, 14772512};

/* The rows so far: attacked columns and diagonals as bits of the next row. */
struct Board {
    unsigned columns, left, right;

    Board with(unsigned queen) const { return {columns | queen, (left | queen) << 1, (right | queen) >> 1}; }
    unsigned free(long n) const { return ~(columns | left | right) & ((1u << n) - 1); }
};

struct Search {
    long n, grain;
    std::atomic<long> found;
};

static long count(Board board, long n, long row) {
    if (row == n)
        return 1;
    long found = 0;
    for (unsigned free = board.free(n); free != 0; free &= free - 1)
        found += count(board.with(free & -free), n, row + 1);
    return found;
}

static void place(tp::tasks &all, Search &search, Board board, long row) {
    if (row >= search.grain || row >= search.n) {
        search.found.fetch_add(count(board, search.n, row), std::memory_order_relaxed);
        return;
    }
    for (unsigned free = board.free(search.n); free != 0; free &= free - 1) {
        const Board next = board.with(free & -free);
        TP_CREATE(all, [&all, &search, next, row] { place(all, search, next, row + 1); });
    }
}

static void solve(Search &search) {
    TP_GROUP(all, [&] { place(all, search, Board{0, 0, 0}, 0); });
}

int main(int words_count, char **words) {
    const kernel::Arguments arguments(words_count, words, "nqueens [N=12] [GRAIN=4]");
    Search search{arguments.number(0, 12, 1, 16), arguments.number(1, 4, 0, 16), {0}};
    TP_RUN(arguments.workers(), [&] { kernel::timed(arguments, [&] { solve(search); }); });
    std::printf("nqueens(%ld) = %ld\n", search.n, search.found.load());
    return kernel::finish(search.found == SOLUTIONS[search.n]);
}
