/* facesim FRAMES SIDE PARTS STEPS: deforms a cube of masses and springs. A frame: two Newton steps, in each the forces, then STEPS
 * steps of conjugate gradient. Every loop creates one task for each of PARTS parts of the mesh and waits; between the loops the
 * root adds up the parts. A kernel of the same structure: springs instead of tetrahedra. */
#ifndef SUITE_FACESIM_H
#define SUITE_FACESIM_H

#include "suite.h"

namespace facesim {
using namespace suite;

typedef std::vector<double> Numbers;

struct Mesh {
    long side, n, parts;
    Numbers place, force, direction, product, residual;
    std::vector<double> partial; /* of each part, for dot products */

    Mesh(long s, long p) : side(s), n(s * s * s), parts(p), place(at(n)), force(place), direction(place), product(place), residual(place), partial(at(p)) {}

    template <class Body> void loop(Body body) {
        TP_TASKS(tasks);
        for (long part = 0; part < parts; part++) {
            const long first = n * part / parts, last = n * (part + 1) / parts;
            double *out = &partial[at(part)];
            TP_CREATE(tasks, [=] { *out = body(first, last); });
        }
        TP_WAIT(tasks);
    }

    /* The serial part: the sum of what the parts found. */
    double sum() const {
        double all = 0;
        for (double x : partial)
            all += x;
        return all;
    }

    /* Row i of the stiffness matrix times x. */
    double row(const Numbers &x, long i) const {
        const long plane = side * side, a = i / plane, b = i / side % side, c = i % side;
        double all = 6.5 * x[at(i)];
        all -= a > 0 ? x[at(i - plane)] : 0;
        all -= a + 1 < side ? x[at(i + plane)] : 0;
        all -= b > 0 ? x[at(i - side)] : 0;
        all -= b + 1 < side ? x[at(i + side)] : 0;
        all -= c > 0 ? x[at(i - 1)] : 0;
        all -= c + 1 < side ? x[at(i + 1)] : 0;
        return all;
    }

    /* One Newton step towards the frame's load; the squared residual after it. */
    double newton(long frame, long steps) {
        Mesh *m = this;
        loop([=](long a, long b) {
            double all = 0;
            for (long i = a; i < b; i++) {
                m->residual[at(i)] = unit(static_cast<u64>(frame * m->n + i)) - m->row(m->place, i);
                m->direction[at(i)] = m->residual[at(i)];
                all += m->residual[at(i)] * m->residual[at(i)];
            }
            return all;
        });
        double before = sum();
        for (long step = 0; step < steps && before > 1e-20; step++) {
            loop([=](long a, long b) {
                double all = 0;
                for (long i = a; i < b; i++) {
                    m->product[at(i)] = m->row(m->direction, i);
                    all += m->product[at(i)] * m->direction[at(i)];
                }
                return all;
            });
            const double length = before / sum();
            loop([=](long a, long b) {
                double all = 0;
                for (long i = a; i < b; i++) {
                    m->place[at(i)] += length * m->direction[at(i)];
                    m->residual[at(i)] -= length * m->product[at(i)];
                    all += m->residual[at(i)] * m->residual[at(i)];
                }
                return all;
            });
            const double after = sum(), turn = after / before;
            before = after;
            loop([=](long a, long b) {
                for (long i = a; i < b; i++)
                    m->direction[at(i)] = m->residual[at(i)] + turn * m->direction[at(i)];
                return 0.0;
            });
        }
        return before;
    }
};

static bool run(const Arguments &arguments) {
    Mesh mesh(std::max(arguments.number(1), 2l), std::max(arguments.number(2), 1l));
    double left = 0, sum = 0;
    timed(arguments, [&] {
        for (long frame = 0; frame < arguments.number(0); frame++)
            for (int step = 0; step < 2; step++)
                left = mesh.newton(frame, arguments.number(3));
    });
    for (double x : mesh.place)
        sum += x;
    return say(left < 1e-3 * static_cast<double>(mesh.n), "deformed %ld masses, mean %.5f", mesh.n, sum / static_cast<double>(mesh.n));
}

static const Program PROGRAM = {"facesim", "[FRAMES] [SIDE] [PARTS] [STEPS]", {{2, 10, 4, 6}}, {{10, 40, 8, 30}}, {{100, 90, 8, 100}}, run};
} // namespace facesim

#endif
