/* sort N QUICK MERGE --input random|sorted --copy serial|parallel: merge sort by quarters. Four quarters, wait; two merges,
 * wait; the last merge. A merge halves the larger range and searches the smaller; where that is empty the rest is copied,
 * serially as in BOTS or, with --copy parallel, in pieces. QUICK and MERGE elements are sorted and merged serially. */
#ifndef SUITE_SORT_H
#define SUITE_SORT_H

#include "suite.h"

namespace sort {
using namespace suite;

typedef std::uint32_t Number;

struct Sort {
    long quick, smallest_merge;
    bool parallel_copy;

    void copy(const Number *from, long count, Number *out) const {
        if (!parallel_copy) {
            std::copy(from, from + count, out);
            return;
        }
        TP_PFOR(0, count, 16384, [=](long a, long b) { std::copy(from + a, from + b, out + a); });
    }

    void merge(const Number *a, long a_count, const Number *b, long b_count, Number *out) const {
        if (a_count < b_count) {
            std::swap(a, b);
            std::swap(a_count, b_count);
        }
        if (b_count == 0) {
            copy(a, a_count, out);
            return;
        }
        if (b_count < smallest_merge) {
            std::merge(a, a + a_count, b, b + b_count, out);
            return;
        }
        const long middle = a_count / 2, cut = std::lower_bound(b, b + b_count, a[middle]) - b;
        TP_TASKS(halves);
        TP_CREATE(halves, [=] { merge(a, middle, b, cut, out); });
        TP_CREATE_AND_WAIT(halves, [=] { merge(a + middle, a_count - middle, b + cut, b_count - cut, out + middle + cut); });
    }

    void run(Number *numbers, Number *scratch, long count) const {
        if (count < quick || count < 4) {
            std::sort(numbers, numbers + count);
            return;
        }
        const long quarter = count / 4, half = 2 * quarter, last = count - 3 * quarter;
        TP_TASKS(quarters);
        TP_CREATE(quarters, [=] { run(numbers, scratch, quarter); });
        TP_CREATE(quarters, [=] { run(numbers + quarter, scratch + quarter, quarter); });
        TP_CREATE(quarters, [=] { run(numbers + half, scratch + half, quarter); });
        TP_CREATE_AND_WAIT(quarters, [=] { run(numbers + 3 * quarter, scratch + 3 * quarter, last); });
        TP_TASKS(merges);
        TP_CREATE(merges, [=] { merge(numbers, quarter, numbers + quarter, quarter, scratch); });
        TP_CREATE_AND_WAIT(merges, [=] { merge(numbers + half, quarter, numbers + 3 * quarter, last, scratch + half); });
        merge(scratch, half, scratch + half, count - half, numbers);
    }
};

static bool run(const Arguments &arguments) {
    const long n = arguments.number(0);
    const Sort sorting{arguments.number(1), std::max(arguments.number(2), 1l), arguments.option("copy", "serial") == "parallel"};
    const bool sorted = arguments.option("input", "random") == "sorted";
    std::vector<Number> numbers(at(n)), scratch(at(n));
    u64 before = 0, after = 0;
    for (long i = 0; i < n; i++) {
        numbers[at(i)] = static_cast<Number>(sorted ? static_cast<u64>(i) : mixed(static_cast<u64>(i)));
        before += mixed(numbers[at(i)]);
    }
    timed(arguments, [&] { sorting.run(numbers.data(), scratch.data(), n); });
    for (Number number : numbers)
        after += mixed(number);
    return say(before == after && std::is_sorted(numbers.begin(), numbers.end()), "sorted %ld numbers", n);
}

static const Program PROGRAM = {"sort", "[N] [QUICK] [MERGE] [--input random|sorted] [--copy serial|parallel]",
                                {{20000, 512, 512}}, {{5000000, 512, 512}}, {{1l << 27, 512, 512}}, run};
} // namespace sort

#endif
