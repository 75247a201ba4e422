/* alignment N LENGTH: aligns each pair of N proteins of up to LENGTH residues in linear space: a pass forward finds the end of
 * the best local alignment, a pass backward its start, dividing recursively its identical residues. One loop, one leaf task for
 * each pair; the pairs are very uneven. The substitution scores are generated. */
#ifndef SUITE_ALIGNMENT_H
#define SUITE_ALIGNMENT_H

#include "suite.h"

namespace alignment {
using namespace suite;

static const long GAP = 6;
typedef std::vector<unsigned char> Protein;

struct Scores {
    std::array<std::array<int, 20>, 20> of;

    Scores() {
        for (u64 i = 0; i < 20; i++)
            for (u64 j = 0; j < 20; j++)
                of[i][j] = i == j ? 8 : static_cast<int>(mixed(std::min(i, j) * 20 + std::max(i, j)) % 8) - 5;
    }
};

/* A piece of a protein, read forward or backward. */
struct Piece {
    const unsigned char *first;
    long length, step;

    unsigned char residue(long i) const { return first[i * step]; }
    Piece part(long from, long to) const { return {first + from * step, to - from, step}; }
    Piece reversed() const { return {first + (length - 1) * step, length, -step}; }
};

struct End {
    long score, i, j;
};

/* The best local alignment's score and end (exclusive). */
static End local_end(const Scores &scores, Piece a, Piece b) {
    std::vector<long> row(at(b.length + 1));
    End best = {0, 0, 0};
    for (long i = 0; i < a.length; i++) {
        long diagonal = 0;
        for (long j = 0; j < b.length; j++) {
            const long both = diagonal + scores.of[a.residue(i)][b.residue(j)];
            diagonal = row[at(j + 1)];
            const long score = std::max(std::max(both, 0l), std::max(diagonal, row[at(j)]) - GAP);
            row[at(j + 1)] = score;
            if (score > best.score)
                best = {score, i + 1, j + 1};
        }
    }
    return best;
}

/* The last row of the global alignment's scores. */
static std::vector<long> global_row(const Scores &scores, Piece a, Piece b) {
    std::vector<long> row(at(b.length + 1));
    for (long j = 0; j <= b.length; j++)
        row[at(j)] = -GAP * j;
    for (long i = 0; i < a.length; i++) {
        long diagonal = row[0];
        row[0] -= GAP;
        for (long j = 0; j < b.length; j++) {
            const long both = diagonal + scores.of[a.residue(i)][b.residue(j)];
            diagonal = row[at(j + 1)];
            row[at(j + 1)] = std::max(both, std::max(diagonal, row[at(j)]) - GAP);
        }
    }
    return row;
}

/* Identical residues of the best global alignment: divides `a` in the middle and `b` where the halves' scores are best. */
static long identical(const Scores &scores, Piece a, Piece b) {
    if (a.length == 0 || b.length == 0)
        return 0;
    if (a.length == 1) {
        for (long j = 0; j < b.length; j++)
            if (b.residue(j) == a.residue(0))
                return 1;
        return 0;
    }
    const long middle = a.length / 2;
    const std::vector<long> left = global_row(scores, a.part(0, middle), b);
    const std::vector<long> right = global_row(scores, a.part(middle, a.length).reversed(), b.reversed());
    long cut = 0;
    for (long j = 1; j <= b.length; j++)
        if (left[at(j)] + right[at(b.length - j)] > left[at(cut)] + right[at(b.length - cut)])
            cut = j;
    return identical(scores, a.part(0, middle), b.part(0, cut)) +
           identical(scores, a.part(middle, a.length), b.part(cut, b.length));
}

/* The score of two proteins and, below it, the identical residues in percent. */
static long aligned(const Scores &scores, const Protein &a, const Protein &b) {
    const Piece whole_a = {a.data(), static_cast<long>(a.size()), 1}, whole_b = {b.data(), static_cast<long>(b.size()), 1};
    const End end = local_end(scores, whole_a, whole_b);
    if (end.score == 0)
        return 0;
    const Piece upto_a = whole_a.part(0, end.i), upto_b = whole_b.part(0, end.j);
    const End start = local_end(scores, upto_a.reversed(), upto_b.reversed());
    const Piece from_a = upto_a.part(end.i - start.i, end.i), from_b = upto_b.part(end.j - start.j, end.j);
    return end.score * 101 + 100 * identical(scores, from_a, from_b) / std::min(start.i, start.j);
}

static bool run(const Arguments &arguments) {
    const long n = arguments.number(0), length = std::max(arguments.number(1), 1l);
    const Scores scores;
    std::vector<Protein> proteins(at(n));
    for (long i = 0; i < n; i++) {
        const u64 seed = static_cast<u64>(i) << 32;
        /* Few are long. */
        const double share = unit(seed) * unit(seed + 1);
        for (long k = 0; k < 1 + static_cast<long>(share * static_cast<double>(length)); k++)
            proteins[at(i)].push_back(static_cast<unsigned char>(mixed(seed + 2 + static_cast<u64>(k)) % 20));
    }
    std::vector<long> results(at(n * n));
    timed(arguments, [&] {
        TP_TASKS(pairs);
        for (long i = 0; i < n; i++)
            for (long j = i + 1; j < n; j++) {
                const Scores *shared = &scores;
                const Protein *a = &proteins[at(i)], *b = &proteins[at(j)];
                long *out = &results[at(i * n + j)];
                TP_CREATE(pairs, [=] { *out = aligned(*shared, *a, *b); });
            }
        TP_WAIT(pairs);
    });
    long sum = 0;
    bool correct = true;
    for (long i = 0; i < n; i++)
        for (long j = i + 1; j < n; j++) {
            sum += results[at(i * n + j)];
            if (arguments.check())
                correct = correct && results[at(i * n + j)] == aligned(scores, proteins[at(i)], proteins[at(j)]);
        }
    return say(correct, "aligned %ld pairs, sum %ld", n * (n - 1) / 2, sum);
}

static const Program PROGRAM = {"alignment", "[N] [LENGTH]", {{12, 80}}, {{100, 500}}, {{100, 3000}}, run};
} // namespace alignment

#endif
