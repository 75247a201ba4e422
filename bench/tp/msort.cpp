/* Merge sort. With `--merge serial` the last merge is one strand that reads everything; with `--merge parallel` it is split
 * as the sort is. GRAIN elements and fewer are sorted serially. */
#include <algorithm>

#include "kernel.h"

typedef std::uint64_t Number;

struct Sort {
    long grain;
    bool parallel_merge;

    void merge(const Number *a, long a_count, const Number *b, long b_count, Number *out) const {
        if (!parallel_merge || a_count + b_count <= grain) {
            std::merge(a, a + a_count, b, b + b_count, out);
            return;
        }
        if (a_count < b_count) {
            std::swap(a, b);
            std::swap(a_count, b_count);
        }
        const long middle = a_count / 2;
        const long cut = std::lower_bound(b, b + b_count, a[middle]) - b;
        TP_TASKS(halves);
        TP_CREATE(halves, [=] { merge(a, middle, b, cut, out); });
        merge(a + middle, a_count - middle, b + cut, b_count - cut, out + middle + cut);
        TP_WAIT(halves);
    }

    /* Sorts in place, or into `other`, so that a merge never has to copy back. */
    void sort(Number *numbers, Number *other, long count, bool into_other) const {
        if (count <= grain) {
            std::sort(numbers, numbers + count);
            if (into_other)
                std::copy(numbers, numbers + count, other);
            return;
        }
        const long middle = count / 2;
        TP_TASKS(halves);
        TP_CREATE(halves, [=] { sort(numbers, other, middle, !into_other); });
        sort(numbers + middle, other + middle, count - middle, !into_other);
        TP_WAIT(halves);
        const Number *from = into_other ? numbers : other;
        merge(from, middle, from + middle, count - middle, into_other ? other : numbers);
    }
};

static void fill(Number *numbers, long count) {
    TP_PFOR(0, count, 20000, [=](long first, long last) {
        for (long i = first; i < last; i++)
            numbers[i] = kernel::mixed(static_cast<Number>(i));
    });
}

/* A sum that sorting must not change, and whether the numbers are in order. */
struct Fingerprint {
    Number sum;
    bool sorted;
};

static Fingerprint fingerprint(const Number *numbers, long count) {
    Fingerprint all = {0, true};
    const auto of = [=](long first, long last) {
        Fingerprint piece = {0, std::is_sorted(numbers + (first > 0 ? first - 1 : 0), numbers + last)};
        for (long i = first; i < last; i++)
            piece.sum += numbers[i] ^ kernel::mixed(numbers[i]);
        return piece;
    };
    TP_PFOR_REDUCE(all, 0, count, 20000, of, [](Fingerprint a, Fingerprint b) {
        return Fingerprint{a.sum + b.sum, a.sorted && b.sorted};
    });
    return all;
}

int main(int words_count, char **words) {
    const char *usage = "msort [N=10000000] [GRAIN=20000] [--merge serial|parallel]";
    const kernel::Arguments arguments(words_count, words, usage);
    const long count = arguments.number(0, 10000000, 0, 1l << 32);
    const Sort sorting{arguments.number(1, 20000, 2, 1l << 32), arguments.option("merge", "serial") == "parallel"};
    std::vector<Number> numbers(static_cast<std::size_t>(count)), scratch(static_cast<std::size_t>(count));
    bool correct = false;
    TP_RUN(arguments.workers(), [&] {
        fill(numbers.data(), count);
        const Number before = fingerprint(numbers.data(), count).sum;
        kernel::timed(arguments, [&] { sorting.sort(numbers.data(), scratch.data(), count, false); });
        const Fingerprint after = fingerprint(numbers.data(), count);
        correct = after.sorted && after.sum == before;
    });
    std::printf("sorted %ld numbers\n", count);
    return kernel::finish(correct);
}
