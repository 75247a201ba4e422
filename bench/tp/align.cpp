/* Aligns every one of N sequences with all after it (global alignment, score only): a loop whose rounds differ in two ways, as
 * the sequences' lengths do and as ever fewer are left. GRAIN sequences are one task. */
#include <algorithm>

#include "kernel.h"

typedef std::vector<unsigned char> Sequence;

static long score(const Sequence &a, const Sequence &b) {
    const long MATCH = 2, MISMATCH = -1, GAP = -2;
    std::vector<long> row(b.size() + 1);
    for (std::size_t j = 0; j < row.size(); j++)
        row[j] = GAP * static_cast<long>(j);
    for (std::size_t i = 0; i < a.size(); i++) {
        long diagonal = row[0];
        row[0] += GAP;
        for (std::size_t j = 0; j < b.size(); j++) {
            const long both = diagonal + (a[i] == b[j] ? MATCH : MISMATCH);
            diagonal = row[j + 1];
            row[j + 1] = std::max(both, std::max(diagonal, row[j]) + GAP);
        }
    }
    return row.back();
}

static long align(const std::vector<Sequence> &all, long grain) {
    long sum = 0;
    const auto rows = [&all](long first, long last) {
        long own = 0;
        for (std::size_t i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); i++)
            for (std::size_t j = i + 1; j < all.size(); j++)
                own += score(all[i], all[j]);
        return own;
    };
    TP_PFOR_REDUCE(sum, 0, static_cast<long>(all.size()), grain, rows, [](long a, long b) { return a + b; });
    return sum;
}

int main(int count, char **words) {
    const kernel::Arguments arguments(count, words, "align [N=100] [GRAIN=1] [LENGTH=200]");
    const long n = arguments.number(0, 100, 0, 100000), length = arguments.number(2, 200, 1, 100000);
    std::vector<Sequence> all(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < all.size(); i++) {
        all[i].resize(1 + kernel::mixed(i) % static_cast<std::uint64_t>(length));
        for (std::size_t k = 0; k < all[i].size(); k++)
            all[i][k] = static_cast<unsigned char>(kernel::mixed(i << 32 | k) % 4);
    }
    long sum = 0;
    TP_RUN(arguments.workers(), [&] { kernel::timed(arguments, [&] { sum = align(all, arguments.number(1, 1, 1, n + 1)); }); });
    std::printf("aligned %ld sequences, scores %ld\n", n, sum);
    long expected = 0;
    for (std::size_t i = 0; i < all.size(); i++)
        for (std::size_t j = 0; j < i; j++)
            expected += n <= 64 ? score(all[i], all[j]) : 0;
    return kernel::finish(n > 64 || sum == expected);
}
