/* floorplan CELLS CUTOFF SEED: places CELLS cells, each in one of several shapes and beside others, so that they cover the least
 * area. Branch and bound: a task for each shape and position, with a copy of the board; from depth CUTOFF on serial. The best
 * area so far is shared, so the number of nodes visited depends on the schedule. */
#ifndef SUITE_FLOORPLAN_H
#define SUITE_FLOORPLAN_H

#include "suite.h"

namespace floorplan {
using namespace suite;

static const long SIDE = 64, MAX_CELLS = 24;

struct Shape {
    long rows, columns;
};

struct Cell {
    long left, above; /* cells it lies beside; -1: free */
    std::vector<Shape> shapes;
};

struct Place {
    long top, bottom, left, right; /* inclusive */
};

/* The cells placed so far: a bit for each place of the board. */
struct Board {
    std::array<u64, 64> rows;
    std::array<Place, 24> places;
    long bottom, right;

    bool put(long cell, long top, long left, Shape shape) {
        if (top < 0 || left < 0 || top + shape.rows > SIDE || left + shape.columns > SIDE)
            return false;
        const u64 bits = (shape.columns == 64 ? ~u64(0) : (u64(1) << shape.columns) - 1) << left;
        for (long i = top; i < top + shape.rows; i++)
            if (rows[at(i)] & bits)
                return false;
        for (long i = top; i < top + shape.rows; i++)
            rows[at(i)] |= bits;
        places[at(cell)] = {top, top + shape.rows - 1, left, left + shape.columns - 1};
        bottom = std::max(bottom, top + shape.rows);
        right = std::max(right, left + shape.columns);
        return true;
    }
    long area() const { return bottom * right; }
};

struct Search {
    std::vector<Cell> cells;
    long cutoff;
    std::atomic<long> best;
};

/* Top left corners where a shape lies beside the cell's neighbours. */
static std::vector<std::array<long, 2>> corners(const Cell &cell, const Board &board, Shape shape) {
    std::vector<std::array<long, 2>> found;
    if (cell.left < 0 && cell.above < 0) {
        found.push_back({{0, 0}});
    } else if (cell.left >= 0 && cell.above >= 0) {
        found.push_back({{board.places[at(cell.above)].bottom + 1, board.places[at(cell.left)].right + 1}});
    } else if (cell.left >= 0) {
        const Place &beside = board.places[at(cell.left)];
        for (long top = std::max(0l, beside.top - shape.rows + 1); top <= beside.bottom; top++)
            found.push_back({{top, beside.right + 1}});
    } else {
        const Place &over = board.places[at(cell.above)];
        for (long left = std::max(0l, over.left - shape.columns + 1); left <= over.right; left++)
            found.push_back({{over.bottom + 1, left}});
    }
    return found;
}

static void place_all(Search &search, const Board &board, long cell, bool tasks);

static void place(Search &search, Board board, long cell, std::array<long, 2> corner, Shape shape) {
    if (!board.put(cell, corner[0], corner[1], shape))
        return;
    long best = search.best.load(std::memory_order_relaxed);
    if (board.area() >= best)
        return;
    if (cell + 1 < static_cast<long>(search.cells.size())) {
        place_all(search, board, cell + 1, cell + 1 < search.cutoff);
        return;
    }
    while (board.area() < best && !search.best.compare_exchange_weak(best, board.area()))
        ;
}

static void place_all(Search &search, const Board &board, long cell, bool tasks) {
    const Cell &what = search.cells[at(cell)];
    TP_TASKS(places);
    for (const Shape shape : what.shapes)
        for (const std::array<long, 2> corner : corners(what, board, shape)) {
            if (!tasks) {
                place(search, board, cell, corner, shape);
                continue;
            }
            Search *all = &search;
            TP_CREATE(places, [=] { place(*all, board, cell, corner, shape); });
        }
    if (tasks)
        TP_WAIT(places);
}

static std::vector<Cell> generated(long count, u64 seed) {
    std::vector<Cell> cells(at(count));
    for (long i = 0; i < count; i++) {
        Cell &cell = cells[at(i)];
        const u64 bits = mixed(seed * 1000 + static_cast<u64>(i));
        cell.left = i > 0 && i % 3 != 1 ? i - 1 : -1;
        cell.above = i > 2 && i % 3 == 1 ? i - 3 : i == 1 ? 0 : i > 4 && i % 3 == 2 && bits % 2 == 0 ? i - 3 : -1;
        const long area = 4 + static_cast<long>(bits >> 8) % 9;
        for (long rows = 1; rows <= 4 && static_cast<long>(cell.shapes.size()) < 3; rows++)
            if (area / rows >= 1 && area / rows <= 8)
                cell.shapes.push_back({rows, (area + rows - 1) / rows});
    }
    return cells;
}

static long least(const std::vector<Cell> &cells, long cutoff, const Arguments *arguments) {
    Search search{cells, cutoff, {SIDE * SIDE + 1}};
    if (arguments != nullptr)
        timed(*arguments, [&] { place_all(search, Board{}, 0, cutoff > 0); });
    else
        place_all(search, Board{}, 0, false);
    return search.best.load();
}

static bool run(const Arguments &arguments) {
    const long count = std::max(1l, std::min(arguments.number(0), MAX_CELLS));
    const std::vector<Cell> cells = generated(count, static_cast<u64>(arguments.number(2)));
    const long area = least(cells, arguments.number(1), &arguments);
    const bool correct = !arguments.check() || area == least(cells, 0, nullptr);
    return say(correct, "placed %ld cells on an area of %ld", count, area);
}

static const Program PROGRAM = {"floorplan", "[CELLS] [CUTOFF] [SEED]", {{6, 3, 1}}, {{12, 5, 1}}, {{15, 7, 1}}, run};
} // namespace floorplan

#endif
