/* streamcluster POINTS BLOCK CENTERS GRAIN PARTS: clusters a stream of points, BLOCK by BLOCK, around CENTERS centers a block at most.
 * A block: distances to a first center (loop), then local search: candidates one after the other; what opening each would gain
 * is summed in PARTS tasks; when it pays, points move to it (loop). Loops are halved down to GRAIN points. */
#ifndef SUITE_STREAMCLUSTER_H
#define SUITE_STREAMCLUSTER_H

#include "suite.h"

namespace streamcluster {
using namespace suite;

static const long DIMENSIONS = 16;
typedef std::array<double, 16> Point;

static Point generated(long i) {
    Point p;
    /* Around one of eight places. */
    const u64 place = mixed(static_cast<u64>(i)) % 8;
    for (u64 k = 0; k < static_cast<u64>(DIMENSIONS); k++)
        p[k] = unit(place * 100 + k) + 0.1 * unit(static_cast<u64>(i) * 16 + k + 100000);
    return p;
}

static double distance(const Point &a, const Point &b) {
    double sum = 0;
    for (std::size_t k = 0; k < a.size(); k++)
        sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sum;
}

struct Clustering {
    long grain, parts;
    std::vector<Point> points;
    std::vector<double> costs; /* to each point's center */
    long opened;

    double total(long n) {
        double sum = 0;
        const double *cost = costs.data();
        const auto piece = [=](long a, long b) {
            double part = 0;
            for (long i = a; i < b; i++)
                part += cost[i];
            return part;
        };
        TP_PFOR_REDUCE(sum, 0, n, grain, piece, [](double a, double b) { return a + b; });
        return sum;
    }

    void assign(long n, long center, bool all) {
        Clustering *c = this;
        TP_PFOR(0, n, grain, [=](long a, long b) {
            for (long i = a; i < b; i++) {
                const double far = distance(c->points[at(i)], c->points[at(center)]);
                if (all || far < c->costs[at(i)])
                    c->costs[at(i)] = far;
            }
        });
    }

    /* By how much a candidate would lower the sum of the costs. */
    double gain(long n, long candidate) {
        std::vector<double> gains(at(parts));
        TP_TASKS(tasks);
        for (long part = 0; part < parts; part++) {
            const long first = n * part / parts, last = n * (part + 1) / parts;
            double *out = &gains[at(part)];
            const Clustering *c = this;
            TP_CREATE(tasks, [=] {
                double sum = 0;
                for (long i = first; i < last; i++)
                    sum += std::max(0.0, c->costs[at(i)] - distance(c->points[at(i)], c->points[at(candidate)]));
                *out = sum;
            });
        }
        TP_WAIT(tasks);
        double sum = 0;
        for (double g : gains)
            sum += g;
        return sum;
    }

    double block(long centers) {
        const long n = static_cast<long>(points.size());
        costs.resize(at(n));
        assign(n, 0, true);
        opened++;
        const double opening = total(n) / static_cast<double>(2 * centers);
        long open = 1;
        for (long k = 0; k < 3 * centers && open < centers; k++) {
            const long candidate = static_cast<long>(mixed(static_cast<u64>(k)) % static_cast<u64>(n));
            if (gain(n, candidate) <= opening)
                continue;
            assign(n, candidate, false);
            open++;
            opened++;
        }
        return total(n);
    }
};

static bool run(const Arguments &arguments) {
    const long n = arguments.number(0), block = std::max(arguments.number(1), 1l), centers = std::max(arguments.number(2), 1l);
    Clustering clustering{arguments.number(3), std::max(arguments.number(4), 1l), {}, {}, 0};
    double cost = 0;
    std::vector<Point> stream;
    for (long i = 0; i < n; i++)
        stream.push_back(generated(i));
    timed(arguments, [&] {
        for (long first = 0; first < n; first += block) {
            const long last = std::min(n, first + block);
            /* Reading a block of the stream. */
            clustering.points.assign(stream.begin() + first, stream.begin() + last);
            cost += clustering.block(centers);
        }
    });
    /* Points lie within 0.1 of their places in each dimension. */
    const bool correct = cost / static_cast<double>(std::max(n, 1l)) < 2.0;
    return say(correct, "clustered %ld points, %ld centers, mean cost %.5f", n, clustering.opened, cost / static_cast<double>(std::max(n, 1l)));
}

static const Program PROGRAM = {"streamcluster", "[POINTS] [BLOCK] [CENTERS] [GRAIN] [PARTS]", {{1000, 500, 6, 50, 4}},
                                {{200000, 50000, 40, 50, 8}}, {{1000000, 200000, 20, 50, 8}}, run};
} // namespace streamcluster

#endif
