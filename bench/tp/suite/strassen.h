/* strassen N DEPTH SIZE --additions serial|parallel: matrix product by Strassen's seven products, each a task; down to depth
 * DEPTH or size SIZE. A node does its additions in one serial loop before and one after, or halves them over its rows. */
#ifndef SUITE_STRASSEN_H
#define SUITE_STRASSEN_H

#include "suite.h"

namespace strassen {
using namespace suite;

typedef std::vector<double> Matrix;

/* A quadrant of a matrix with rows of `width`. */
struct View {
    const double *from;
    long width;

    View quadrant(long i, long j, long half) const { return {from + i * half * width + j * half, width}; }
};

struct Product {
    long depth, smallest;
    bool parallel_additions;

    static void serial(View a, View b, double *out, long n) {
        std::fill(out, out + n * n, 0.0);
        for (long i = 0; i < n; i++)
            for (long k = 0; k < n; k++) {
                const double x = a.from[i * a.width + k];
                const double *row = b.from + k * b.width;
                for (long j = 0; j < n; j++)
                    out[i * n + j] += x * row[j];
            }
    }

    template <class Rows> void rows(long count, Rows body) const {
        if (parallel_additions)
            TP_PFOR(0, count, 16, body);
        else
            body(0, count);
    }

    void run(View a, View b, double *out, long n, long level) const {
        if (level >= depth || n <= smallest || n % 2 != 0) {
            serial(a, b, out, n);
            return;
        }
        const long h = n / 2;
        const View a11 = a.quadrant(0, 0, h), a12 = a.quadrant(0, 1, h), a21 = a.quadrant(1, 0, h), a22 = a.quadrant(1, 1, h);
        const View b11 = b.quadrant(0, 0, h), b12 = b.quadrant(0, 1, h), b21 = b.quadrant(1, 0, h), b22 = b.quadrant(1, 1, h);
        std::vector<Matrix> sums(10, Matrix(at(h * h))), products(7, Matrix(at(h * h)));
        std::vector<Matrix> *s = &sums, *p = &products;
        rows(h, [=](long first, long last) {
            for (long i = first; i < last; i++)
                for (long j = 0; j < h; j++) {
                    const std::size_t k = at(i * h + j);
                    const long x = i * a.width + j, y = i * b.width + j;
                    (*s)[0][k] = a11.from[x] + a22.from[x];
                    (*s)[1][k] = b11.from[y] + b22.from[y];
                    (*s)[2][k] = a21.from[x] + a22.from[x];
                    (*s)[3][k] = b12.from[y] - b22.from[y];
                    (*s)[4][k] = b21.from[y] - b11.from[y];
                    (*s)[5][k] = a11.from[x] + a12.from[x];
                    (*s)[6][k] = a21.from[x] - a11.from[x];
                    (*s)[7][k] = b11.from[y] + b12.from[y];
                    (*s)[8][k] = a12.from[x] - a22.from[x];
                    (*s)[9][k] = b21.from[y] + b22.from[y];
                }
        });
        const auto sum = [s, h](std::size_t k) { return View{(*s)[k].data(), h}; };
        const View factors[7][2] = {{sum(0), sum(1)}, {sum(2), b11},    {a11, sum(3)},   {a22, sum(4)},
                                    {sum(5), b22},    {sum(6), sum(7)}, {sum(8), sum(9)}};
        TP_TASKS(seven);
        for (std::size_t k = 0; k < 7; k++) {
            const View left = factors[k][0], right = factors[k][1];
            double *to = products[k].data();
            TP_CREATE(seven, [=] { run(left, right, to, h, level + 1); });
        }
        TP_WAIT(seven);
        rows(h, [=](long first, long last) {
            for (long i = first; i < last; i++)
                for (long j = 0; j < h; j++) {
                    const std::size_t k = at(i * h + j);
                    out[i * n + j] = (*p)[0][k] + (*p)[3][k] - (*p)[4][k] + (*p)[6][k];
                    out[i * n + j + h] = (*p)[2][k] + (*p)[4][k];
                    out[(i + h) * n + j] = (*p)[1][k] + (*p)[3][k];
                    out[(i + h) * n + j + h] = (*p)[0][k] - (*p)[1][k] + (*p)[2][k] + (*p)[5][k];
                }
        });
    }
};

static bool run(const Arguments &arguments) {
    const long n = std::max(arguments.number(0), 1l);
    const Product product{arguments.number(1), arguments.number(2), arguments.option("additions", "serial") == "parallel"};
    Matrix a(at(n * n)), b(at(n * n)), c(at(n * n));
    for (long i = 0; i < n * n; i++) {
        a[at(i)] = kernel::mixed_float(static_cast<u64>(2 * i));
        b[at(i)] = kernel::mixed_float(static_cast<u64>(2 * i + 1));
    }
    timed(arguments, [&] { product.run({a.data(), n}, {b.data(), n}, c.data(), n, 0); });
    /* A (B x) = C x. */
    std::vector<double> bx(at(n));
    bool correct = true;
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++)
            bx[at(i)] += b[at(i * n + j)] * unit(static_cast<u64>(j));
    for (long i = 0; i < n; i++) {
        double expected = 0, found = 0;
        for (long j = 0; j < n; j++) {
            expected += a[at(i * n + j)] * bx[at(j)];
            found += c[at(i * n + j)] * unit(static_cast<u64>(j));
        }
        correct = correct && near(found, expected, 1e-7);
    }
    return say(correct, "multiplied %ld x %ld, last %.4f", n, n, c[at(n * n - 1)]);
}

static const Program PROGRAM = {"strassen", "[N] [DEPTH] [SIZE] [--additions serial|parallel]", {{64, 7, 16}},
                                {{1024, 7, 32}}, {{4096, 7, 32}}, run};
} // namespace strassen

#endif
