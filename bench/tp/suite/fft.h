/* fft LOG2 LEAF: Fourier transform of 2^LOG2 complex numbers. A table of coefficients; then at each level of radix 16: unshuffle
 * (halved down to LEAF), wait; a loop of 16 child transforms, wait; twiddle (halved), wait. 32 numbers and fewer serially. In a
 * halving the first half is a task and the second a call. */
#ifndef SUITE_FFT_H
#define SUITE_FFT_H

#include "suite.h"

namespace fft {
using namespace suite;

struct Complex {
    double re, im;
};

static Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
static Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
static Complex operator*(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }

static const long BASE = 32;

struct Transform {
    long size, leaf;
    std::vector<Complex> roots; /* of 1 */

    Transform(long n, long l) : size(n), leaf(l), roots(at(n)) {}

    void make_roots() {
        const double circle = -2.0 * std::acos(-1.0) / static_cast<double>(size);
        Complex *out = roots.data();
        TP_PFOR(0, size, leaf, [=](long a, long b) {
            for (long k = a; k < b; k++)
                out[k] = {std::cos(circle * static_cast<double>(k)), std::sin(circle * static_cast<double>(k))};
        });
    }

    /* n <= BASE numbers in place. */
    void serial(Complex *x, long n) const {
        for (long i = 1, j = 0; i < n; i++) {
            long bit = n >> 1;
            for (; j & bit; bit >>= 1)
                j ^= bit;
            j ^= bit;
            if (i < j)
                std::swap(x[i], x[j]);
        }
        for (long length = 2; length <= n; length *= 2)
            for (long start = 0; start < n; start += length)
                for (long k = 0; k < length / 2; k++) {
                    Complex *even = &x[start + k], *odd = even + length / 2;
                    const Complex turned = roots[at(k * (size / length))] * *odd;
                    *odd = *even - turned;
                    *even = *even + turned;
                }
    }

    /* Into `out`; `in` is used as scratch. */
    void run(Complex *in, Complex *out, long n) const {
        if (n <= BASE) {
            std::copy(in, in + n, out);
            serial(out, n);
            return;
        }
        const long radix = n / 16 >= BASE ? 16 : n / BASE, m = n / radix;
        TP_PFOR(0, m, leaf, [=](long a, long b) {
            for (long i = a; i < b; i++)
                for (long j = 0; j < radix; j++)
                    out[j * m + i] = in[i * radix + j];
        });
        TP_TASKS(children);
        for (long j = 0; j < radix; j++)
            TP_CREATE(children, [=] { run(out + j * m, in + j * m, m); });
        TP_WAIT(children);
        TP_PFOR(0, m, leaf, [=](long a, long b) { twiddle(in, out, n, radix, a, b); });
    }

    void twiddle(const Complex *in, Complex *out, long n, long radix, long a, long b) const {
        const long m = n / radix;
        Complex t[16];
        for (long i = a; i < b; i++) {
            for (long j = 0; j < radix; j++)
                t[j] = roots[at(i * j * (size / n))] * in[j * m + i];
            serial(t, radix);
            for (long j = 0; j < radix; j++)
                out[j * m + i] = t[j];
        }
    }
};

static bool run(const Arguments &arguments) {
    const long n = 1l << std::min(arguments.number(0), 28l);
    Transform transform(n, arguments.number(1));
    std::vector<Complex> given(at(n)), in, out(at(n));
    for (long i = 0; i < n; i++)
        given[at(i)] = {kernel::mixed_float(static_cast<u64>(2 * i)), kernel::mixed_float(static_cast<u64>(2 * i + 1))};
    in = given;
    timed(arguments, [&] {
        transform.make_roots();
        transform.run(in.data(), out.data(), n);
    });
    const Complex second = out[at(n > 1)];
    bool correct = true;
    if (arguments.check()) {
        /* Back again: the transform of the conjugate. */
        for (Complex &c : out)
            c.im = -c.im;
        std::vector<Complex> back(at(n));
        timed(arguments, [&] { transform.run(out.data(), back.data(), n); });
        for (long i = 0; i < n; i++) {
            const double size = static_cast<double>(n);
            correct = correct && std::fabs(back[at(i)].re / size - given[at(i)].re) < 1e-9;
            correct = correct && std::fabs(back[at(i)].im / size + given[at(i)].im) < 1e-9;
        }
    }
    return say(correct, "transformed %ld numbers, at 1: %.4f %.4f", n, second.re, second.im);
}

static const Program PROGRAM = {"fft", "[LOG2] [LEAF]", {{11, 128}}, {{22, 128}}, {{24, 128}}, run};
} // namespace fft

#endif
