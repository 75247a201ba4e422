/* sparselu BLOCKS SIZE --loop flat|halved: LU factorisation of a sparse matrix of BLOCKS x BLOCKS blocks. A step: the diagonal
 * block, serially; a loop of tasks for its row and its column, wait; a loop of tasks for the rest, wait. One task creates all
 * others, or with --loop halved the loops are halved into tasks. */
#ifndef SUITE_SPARSELU_H
#define SUITE_SPARSELU_H

#include "suite.h"

namespace sparselu {
using namespace suite;

typedef std::vector<double> Block; /* empty: no block */

struct Matrix {
    long blocks, size;
    bool halved;
    std::vector<Block> all;

    Block &block(long i, long j) { return all[at(i * blocks + j)]; }
    double number(long i, long j) {
        const Block &b = block(i / size, j / size);
        return b.empty() ? 0.0 : b[at(i % size * size + j % size)];
    }
};

static bool is_empty(long i, long j) {
    if (std::labs(i - j) <= 1)
        return false;
    return (i < j && i % 3 != 0) || (i > j && j % 3 != 0) || i % 2 == 1 || j % 2 == 1;
}

static void fill(Matrix &m) {
    for (long i = 0; i < m.blocks; i++)
        for (long j = 0; j < m.blocks; j++) {
            if (is_empty(i, j))
                continue;
            Block &block = m.block(i, j);
            for (long k = 0; k < m.size * m.size; k++) {
                const bool heavy = i == j && k / m.size == k % m.size;
                const u64 seed = static_cast<u64>((i * m.blocks + j) * m.size * m.size + k);
                block.push_back(kernel::mixed_float(seed) + (heavy ? 4.0 * static_cast<double>(m.blocks * m.size) : 0.0));
            }
        }
}

static void factor(double *b, long n) {
    for (long k = 0; k < n; k++)
        for (long i = k + 1; i < n; i++) {
            b[i * n + k] /= b[k * n + k];
            for (long j = k + 1; j < n; j++)
                b[i * n + j] -= b[i * n + k] * b[k * n + j];
        }
}

/* b becomes inverse(L) * b. */
static void forward(const double *pivot, double *b, long n) {
    for (long i = 1; i < n; i++)
        for (long k = 0; k < i; k++)
            for (long j = 0; j < n; j++)
                b[i * n + j] -= pivot[i * n + k] * b[k * n + j];
}

/* b becomes b * inverse(U). */
static void divide(const double *pivot, double *b, long n) {
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++) {
            const double x = b[i * n + j] /= pivot[j * n + j];
            for (long k = j + 1; k < n; k++)
                b[i * n + k] -= x * pivot[j * n + k];
        }
}

/* b becomes b - left * above; an empty one is filled. */
static void update(const Block &left, const Block &above, Block &b, long n) {
    if (left.empty() || above.empty())
        return;
    if (b.empty())
        b.assign(at(n * n), 0.0);
    double *out = b.data();
    for (long i = 0; i < n; i++)
        for (long k = 0; k < n; k++)
            for (long j = 0; j < n; j++)
                out[i * n + j] -= left[at(i * n + k)] * above[at(k * n + j)];
}

static void flat_step(Matrix &m, long k) {
    const long n = m.size;
    const double *pivot = m.block(k, k).data();
    TP_TASKS(solves);
    for (long j = k + 1; j < m.blocks; j++)
        if (!m.block(k, j).empty()) {
            double *b = m.block(k, j).data();
            TP_CREATE(solves, [=] { forward(pivot, b, n); });
        }
    for (long i = k + 1; i < m.blocks; i++)
        if (!m.block(i, k).empty()) {
            double *b = m.block(i, k).data();
            TP_CREATE(solves, [=] { divide(pivot, b, n); });
        }
    TP_WAIT(solves);
    TP_TASKS(updates);
    for (long i = k + 1; i < m.blocks; i++)
        for (long j = k + 1; j < m.blocks; j++)
            if (!m.block(i, k).empty() && !m.block(k, j).empty()) {
                const Block *left = &m.block(i, k), *above = &m.block(k, j);
                Block *b = &m.block(i, j);
                TP_CREATE(updates, [=] { update(*left, *above, *b, n); });
            }
    TP_WAIT(updates);
}

static void halved_step(Matrix &m, long k) {
    const long n = m.size, rest = m.blocks - k - 1;
    const double *pivot = m.block(k, k).data();
    Matrix *all = &m;
    TP_PFOR(0, 2 * rest, 1, [=](long a, long b) {
        for (long i = a; i < b; i++) {
            const bool row = i < rest;
            Block &block = row ? all->block(k, k + 1 + i) : all->block(k + 1 + i - rest, k);
            if (!block.empty())
                row ? forward(pivot, block.data(), n) : divide(pivot, block.data(), n);
        }
    });
    TP_PFOR(0, rest * rest, 1, [=](long a, long b) {
        for (long x = a; x < b; x++) {
            const long i = k + 1 + x / rest, j = k + 1 + x % rest;
            update(all->block(i, k), all->block(k, j), all->block(i, j), n);
        }
    });
}

static void factorise(Matrix &m) {
    for (long k = 0; k < m.blocks; k++) {
        factor(m.block(k, k).data(), m.size);
        if (m.halved)
            halved_step(m, k);
        else
            flat_step(m, k);
    }
}

/* The largest |A x - L (U x)| for a vector x of -1 ... 1, relative. */
static double residual(Matrix &m, Matrix &lu) {
    const long n = m.blocks * m.size;
    std::vector<double> x, y;
    for (long i = 0; i < n; i++)
        x.push_back(kernel::mixed_float(static_cast<u64>(-i - 1)));
    for (long i = 0; i < n; i++) {
        double sum = 0;
        for (long j = i; j < n; j++)
            sum += lu.number(i, j) * x[at(j)];
        y.push_back(sum);
    }
    double worst = 0;
    for (long i = 0; i < n; i++) {
        double expected = 0, found = y[at(i)];
        for (long j = 0; j < n; j++)
            expected += m.number(i, j) * x[at(j)];
        for (long j = 0; j < i; j++)
            found += lu.number(i, j) * y[at(j)];
        worst = std::max(worst, std::fabs(expected - found) / (1.0 + std::fabs(expected)));
    }
    return worst;
}

static bool run(const Arguments &arguments) {
    const long blocks = std::max(arguments.number(0), 1l), size = std::max(arguments.number(1), 1l);
    const bool halved = arguments.option("loop", "flat") == "halved";
    Matrix m{blocks, size, halved, std::vector<Block>(at(blocks * blocks))};
    fill(m);
    Matrix lu = m;
    timed(arguments, [&] { factorise(lu); });
    long before = 0, after = 0;
    for (long i = 0; i < blocks * blocks; i++) {
        before += !m.all[at(i)].empty();
        after += !lu.all[at(i)].empty();
    }
    const bool correct = !arguments.check() || residual(m, lu) < 1e-9;
    return say(correct, "factorised %ld x %ld blocks, %ld filled before, %ld after, last %.6f", blocks, blocks, before, after,
               lu.number(blocks * size - 1, blocks * size - 1));
}

static const Program PROGRAM = {"sparselu", "[BLOCKS] [SIZE] [--loop flat|halved]", {{10, 6}}, {{60, 32}}, {{120, 40}}, run};
} // namespace sparselu

#endif
