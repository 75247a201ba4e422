/* Matrix product by divide and conquer: the output is cut in quarters, the inner dimension in halves, one after the other.
 * Blocks of GRAIN rows and columns are multiplied serially. */
#include "kernel.h"

/* Row-major, `stride` numbers from row to row. */
struct Product {
    long stride, grain;

    void multiply(const double *a, const double *b, double *c, long rows, long inner, long columns) const {
        if (rows <= grain && columns <= grain) {
            if (inner > grain) {
                const long half = inner / 2;
                multiply(a, b, c, rows, half, columns);
                multiply(a + half, b + half * stride, c, rows, inner - half, columns);
            } else {
                multiply_serial(a, b, c, rows, inner, columns);
            }
            return;
        }
        TP_TASKS(halves);
        if (rows >= columns) {
            const long half = rows / 2;
            TP_CREATE(halves, [=] { multiply(a, b, c, half, inner, columns); });
            multiply(a + half * stride, b, c + half * stride, rows - half, inner, columns);
        } else {
            const long half = columns / 2;
            TP_CREATE(halves, [=] { multiply(a, b, c, rows, inner, half); });
            multiply(a, b + half, c + half, rows, inner, columns - half);
        }
        TP_WAIT(halves);
    }

    void multiply_serial(const double *a, const double *b, double *c, long rows, long inner, long columns) const {
        for (long i = 0; i < rows; i++)
            for (long k = 0; k < inner; k++) {
                const double x = a[i * stride + k];
                for (long j = 0; j < columns; j++)
                    c[i * stride + j] += x * b[k * stride + j];
            }
    }
};

static void fill(double *m, long n, long seed) {
    TP_PFOR(0, n, 16, [=](long first, long last) {
        for (long i = first * n; i < last * n; i++)
            m[i] = kernel::mixed_float(static_cast<std::uint64_t>(seed + i));
    });
}

static std::vector<double> times(const std::vector<double> &m, const std::vector<double> &x) {
    const std::size_t n = x.size();
    std::vector<double> out(n);
    for (std::size_t i = 0; i < n; i++)
        for (std::size_t j = 0; j < n; j++)
            out[i] += m[i * n + j] * x[j];
    return out;
}

/* Freivalds' check: C·x = A·(B·x) for a vector x of -1 ... 1. */
static bool agrees(const std::vector<double> &a, const std::vector<double> &b, const std::vector<double> &c, long n) {
    std::vector<double> x(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < x.size(); i++)
        x[i] = kernel::mixed_float(~std::uint64_t(i));
    const std::vector<double> expected = times(a, times(b, x)), found = times(c, x);
    for (std::size_t i = 0; i < x.size(); i++) {
        const double off = expected[i] - found[i];
        if (!((off < 0 ? -off : off) <= 1e-7 * static_cast<double>(n)))
            return false;
    }
    return true;
}

int main(int count, char **words) {
    const kernel::Arguments arguments(count, words, "matmul [N=512] [GRAIN=64]");
    const long n = arguments.number(0, 512, 1, 20000);
    const Product product{n, arguments.number(1, 64, 1, 20000)};
    std::vector<double> a(static_cast<std::size_t>(n * n)), b(a.size()), c(a.size());
    TP_RUN(arguments.workers(), [&] {
        fill(a.data(), n, 0);
        fill(b.data(), n, n * n);
        kernel::timed(arguments, [&] { product.multiply(a.data(), b.data(), c.data(), n, n, n); });
    });
    std::printf("multiplied %ld x %ld, checksum %016llx\n", n, n,
                static_cast<unsigned long long>(kernel::checksum(c.data(), c.size())));
    return kernel::finish(agrees(a, b, c, n));
}
