/* LU factorisation of a sparse matrix of blocks: each step factors the diagonal block, then solves its row and column, then
 * updates the rest; many blocks are empty, so the tasks are uneven. A block is GRAIN rows and columns. */
#include <cmath>

#include "kernel.h"

typedef std::vector<double> Block; /* empty: no block */

struct Matrix {
    long blocks, size;
    std::vector<Block> all;

    Block &at(long i, long j) { return all[static_cast<std::size_t>(i * blocks + j)]; }
    double number(long i, long j) {
        const Block &block = at(i / size, j / size);
        return block.empty() ? 0.0 : block[static_cast<std::size_t>(i % size * size + j % size)];
    }
};

/* Every third block or so; the diagonal dominates, so that no pivoting is needed. */
static Block filled(long i, long j, long size) {
    const std::uint64_t seed = static_cast<std::uint64_t>(i * 1000 + j);
    Block block;
    if (i != j && kernel::mixed(seed) % 3 != 0)
        return block;
    for (long k = 0; k < size * size; k++) {
        const double heavy = i == j && k / size == k % size ? 2000.0 : 0.0;
        block.push_back(kernel::mixed_float(seed * 1000000 + static_cast<std::uint64_t>(k)) + heavy);
    }
    return block;
}

static void fill(Matrix &m) {
    TP_PFOR(0, m.blocks * m.blocks, 8, [&m](long first, long last) {
        for (long k = first; k < last; k++)
            m.at(k / m.blocks, k % m.blocks) = filled(k / m.blocks, k % m.blocks, m.size);
    });
}

/* The block's own L and U, in place. */
static void factor(double *block, long n) {
    for (long k = 0; k < n; k++)
        for (long i = k + 1; i < n; i++) {
            block[i * n + k] /= block[k * n + k];
            for (long j = k + 1; j < n; j++)
                block[i * n + j] -= block[i * n + k] * block[k * n + j];
        }
}

/* block becomes inverse(L) * block. */
static void solve_row(const double *pivot, double *block, long n) {
    for (long i = 1; i < n; i++)
        for (long k = 0; k < i; k++)
            for (long j = 0; j < n; j++)
                block[i * n + j] -= pivot[i * n + k] * block[k * n + j];
}

/* block becomes block * inverse(U). */
static void solve_column(const double *pivot, double *block, long n) {
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++) {
            block[i * n + j] /= pivot[j * n + j];
            const double x = block[i * n + j];
            for (long k = j + 1; k < n; k++)
                block[i * n + k] -= x * pivot[j * n + k];
        }
}

/* block becomes block - left * above; an empty one is filled. */
static void update(const double *left, const double *above, Block &block, long n) {
    if (block.empty())
        block.assign(static_cast<std::size_t>(n * n), 0.0);
    for (long i = 0; i < n; i++)
        for (long k = 0; k < n; k++)
            for (long j = 0; j < n; j++)
                block[static_cast<std::size_t>(i * n + j)] -= left[i * n + k] * above[k * n + j];
}

static void solve_step(Matrix &m, long k) {
    const long size = m.size;
    const double *pivot = m.at(k, k).data();
    TP_TASKS(solves);
    for (long j = k + 1; j < m.blocks; j++) {
        if (!m.at(k, j).empty()) {
            double *block = m.at(k, j).data();
            TP_CREATE(solves, [=] { solve_row(pivot, block, size); });
        }
    }
    for (long i = k + 1; i < m.blocks; i++) {
        if (!m.at(i, k).empty()) {
            double *block = m.at(i, k).data();
            TP_CREATE(solves, [=] { solve_column(pivot, block, size); });
        }
    }
    TP_WAIT(solves);
}

static void update_step(Matrix &m, long k) {
    const long size = m.size;
    TP_TASKS(updates);
    for (long i = k + 1; i < m.blocks; i++) {
        for (long j = k + 1; j < m.blocks; j++) {
            if (m.at(i, k).empty() || m.at(k, j).empty())
                continue;
            const double *left = m.at(i, k).data(), *above = m.at(k, j).data();
            Block *block = &m.at(i, j);
            TP_CREATE(updates, [=] { update(left, above, *block, size); });
        }
    }
    TP_WAIT(updates);
}

static void factorise(Matrix &m) {
    for (long k = 0; k < m.blocks; k++) {
        factor(m.at(k, k).data(), m.size);
        solve_step(m, k);
        update_step(m, k);
    }
}

/* A·x = L·(U·x) for a vector x of -1 ... 1. */
static bool agrees(Matrix &m, Matrix &factors) {
    const long n = m.blocks * m.size;
    std::vector<double> x, upper;
    for (long i = 0; i < n; i++)
        x.push_back(kernel::mixed_float(~static_cast<std::uint64_t>(i)));
    for (long i = 0; i < n; i++) {
        double sum = 0;
        for (long j = i; j < n; j++)
            sum += factors.number(i, j) * x[static_cast<std::size_t>(j)];
        upper.push_back(sum);
    }
    for (long i = 0; i < n; i++) {
        double expected = 0, found = upper[static_cast<std::size_t>(i)];
        for (long j = 0; j < n; j++)
            expected += m.number(i, j) * x[static_cast<std::size_t>(j)];
        for (long j = 0; j < i; j++)
            found += factors.number(i, j) * upper[static_cast<std::size_t>(j)];
        if (!(std::fabs(expected - found) <= 1e-6 * (1.0 + std::fabs(expected))))
            return false;
    }
    return true;
}

int main(int count, char **words) {
    const kernel::Arguments arguments(count, words, "sparselu [BLOCKS=20] [GRAIN=48]");
    const long blocks = arguments.number(0, 20, 1, 400), size = arguments.number(1, 48, 1, 512);
    Matrix m{blocks, size, std::vector<Block>(static_cast<std::size_t>(blocks * blocks))}, factors = m;
    TP_RUN(arguments.workers(), [&] {
        fill(m);
        factors = m;
        kernel::timed(arguments, [&] { factorise(factors); });
    });
    long full = 0;
    std::uint64_t sum = 0;
    for (const Block &block : factors.all) {
        full += !block.empty();
        sum += kernel::checksum(block.data(), block.size());
    }
    std::printf("factorised %ld x %ld blocks, %ld filled, checksum %016llx\n", blocks, blocks, full,
                static_cast<unsigned long long>(sum));
    return kernel::finish(agrees(m, factors));
}
