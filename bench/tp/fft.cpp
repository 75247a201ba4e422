/* Fourier transform of 2^LOG2 numbers by halves, the even ones and the odd ones; parts of GRAIN numbers and fewer are
 * transformed serially. */
#include <cmath>

#include "kernel.h"

struct Complex {
    double re, im;
};

static Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
static Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
static Complex operator*(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }

struct Transform {
    long size, grain;
    std::vector<Complex> roots; /* of 1, half the circle */

    Transform(long n, long g) : size(n), grain(g), roots(static_cast<std::size_t>(n / 2 + 1)) {
        const double circle = -2.0 * std::acos(-1.0) / static_cast<double>(n);
        for (std::size_t k = 0; k < roots.size(); k++)
            roots[k] = {std::cos(circle * static_cast<double>(k)), std::sin(circle * static_cast<double>(k))};
    }

    /* Of the n numbers at in[0], in[step], ... */
    void run(const Complex *in, long step, Complex *out, long n) const {
        if (n == 1) {
            out[0] = in[0];
            return;
        }
        const long half = n / 2;
        if (n <= grain) {
            run(in, 2 * step, out, half);
            run(in + step, 2 * step, out + half, half);
            for (long k = 0; k < half; k++)
                combine(out, half, step, k);
            return;
        }
        TP_TASKS(halves);
        TP_CREATE(halves, [=] { run(in, 2 * step, out, half); });
        run(in + step, 2 * step, out + half, half);
        TP_WAIT(halves);
        TP_PFOR(0, half, grain, [=](long first, long last) {
            for (long k = first; k < last; k++)
                combine(out, half, step, k);
        });
    }

    void combine(Complex *out, long half, long step, long k) const {
        const Complex even = out[k], odd = roots[static_cast<std::size_t>(k * step)] * out[k + half];
        out[k] = even + odd;
        out[k + half] = even - odd;
    }
};

int main(int count, char **words) {
    const kernel::Arguments arguments(count, words, "fft [LOG2=20] [GRAIN=4096]");
    const long n = 1l << arguments.number(0, 20, 1, 28);
    const Transform transform(n, arguments.number(1, 4096, 2, 1l << 28));
    std::vector<Complex> in(static_cast<std::size_t>(n)), out(in.size());
    double energy = 0;
    for (std::size_t i = 0; i < in.size(); i++) {
        in[i] = {kernel::mixed_float(2 * i), kernel::mixed_float(2 * i + 1)};
        energy += in[i].re * in[i].re + in[i].im * in[i].im;
    }
    TP_RUN(arguments.workers(), [&] { kernel::timed(arguments, [&] { transform.run(in.data(), 1, out.data(), n); }); });
    /* Parseval: the transform has n times the energy; and its mean is the first number. */
    double transformed = 0;
    Complex mean = {0, 0};
    for (const Complex &c : out) {
        transformed += c.re * c.re + c.im * c.im;
        mean = mean + c;
    }
    const double size = static_cast<double>(n);
    const bool correct = std::fabs(transformed / size / energy - 1) < 1e-9 && std::fabs(mean.re / size - in[0].re) < 1e-9 &&
                         std::fabs(mean.im / size - in[0].im) < 1e-9;
    std::printf("transformed %ld numbers, energy %.3f, at 1: %.6f %.6f\n", n, transformed / size, out[1].re, out[1].im);
    return kernel::finish(correct);
}
