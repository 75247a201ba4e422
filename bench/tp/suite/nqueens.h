/* nqueens N CUTOFF: counts placements of N queens. A task for each column of a row, also for those that are refused; waits at
 * each node; from row CUTOFF on serial. An irregular tree. */
#ifndef SUITE_NQUEENS_H
#define SUITE_NQUEENS_H

#include "suite.h"

namespace nqueens {
using namespace suite;

static const long SOLUTIONS[17] = {1,   1,   0,    0,     2,     10,     4,       40,      92,
                                   352, 724, 2680, 14200, 73712, 365596, 2279184, 14772512};

struct Board {
    std::array<signed char, 16> column; /* of each row */

    bool accepts(long row, long queen) const {
        for (long i = 0; i < row; i++) {
            const long other = column[at(i)], distance = row - i;
            if (other == queen || other == queen - distance || other == queen + distance)
                return false;
        }
        return true;
    }
    Board with(long row, long queen) const {
        Board next = *this;
        next.column[at(row)] = static_cast<signed char>(queen);
        return next;
    }
};

static long serial(const Board &board, long n, long row) {
    if (row == n)
        return 1;
    long found = 0;
    for (long queen = 0; queen < n; queen++)
        if (board.accepts(row, queen))
            found += serial(board.with(row, queen), n, row + 1);
    return found;
}

static long parallel(const Board &board, long n, long row, long cutoff) {
    if (row == n || row >= cutoff)
        return serial(board, n, row);
    std::array<long, 16> found = {};
    TP_TASKS(columns);
    for (long queen = 0; queen < n; queen++) {
        long *out = &found[at(queen)];
        TP_CREATE(columns, [=] {
            if (board.accepts(row, queen))
                *out = parallel(board.with(row, queen), n, row + 1, cutoff);
        });
    }
    TP_WAIT(columns);
    long all = 0;
    for (long queen = 0; queen < n; queen++)
        all += found[at(queen)];
    return all;
}

static bool run(const Arguments &arguments) {
    const long n = std::min(arguments.number(0), 16l);
    long found = 0;
    timed(arguments, [&] { found = parallel(Board{}, n, 0, arguments.number(1)); });
    return say(found == SOLUTIONS[n], "nqueens(%ld) = %ld", n, found);
}

static const Program PROGRAM = {"nqueens", "[N] [CUTOFF]", {{8, 3}}, {{13, 4}}, {{14, 7}}, run};
} // namespace nqueens

#endif
