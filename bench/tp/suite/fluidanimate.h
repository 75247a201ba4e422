/* fluidanimate STEPS PARTICLES BLOCKS GRAIN: smoothed particles in a box, BLOCKS x BLOCKS blocks. A step: six loops over the blocks,
 * halved into tasks: gather the block's particles, densities, forces, walls, move, count. A block reads its neighbours and writes
 * itself, so no lock is needed where the original has one for each cell. */
#ifndef SUITE_FLUIDANIMATE_H
#define SUITE_FLUIDANIMATE_H

#include "suite.h"

namespace fluidanimate {
using namespace suite;

struct Particle {
    double x, y, vx, vy, density, ax, ay;
};

typedef std::vector<Particle> Block;

struct Fluid {
    long blocks, grain;
    std::vector<Block> now, before;

    Fluid(long count, long b, long g) : blocks(b), grain(g), now(at(b * b)), before(at(b * b)) {
        for (long i = 0; i < count; i++) {
            /* The lower left quarter is full: a dam that breaks. */
            const Particle p = {0.5 * unit(static_cast<u64>(2 * i)), 0.5 * unit(static_cast<u64>(2 * i + 1)), 0, 0, 0, 0, 0};
            now[at(home(p))].push_back(p);
        }
    }
    long home(const Particle &p) const {
        const double b = static_cast<double>(blocks);
        return std::min(blocks - 1, static_cast<long>(p.y * b)) * blocks + std::min(blocks - 1, static_cast<long>(p.x * b));
    }
    template <class Body> void neighbours(long block, Body body) const {
        for (long i = std::max(0l, block / blocks - 1); i <= std::min(blocks - 1, block / blocks + 1); i++)
            for (long j = std::max(0l, block % blocks - 1); j <= std::min(blocks - 1, block % blocks + 1); j++)
                body(i * blocks + j);
    }

    void gather(long block) {
        now[at(block)].clear();
        neighbours(block, [&](long other) {
            for (const Particle &p : before[at(other)])
                if (home(p) == block)
                    now[at(block)].push_back(p);
        });
    }
    void densities(long block) {
        const double reach = 1.0 / static_cast<double>(blocks);
        for (Particle &p : now[at(block)]) {
            double sum = 0;
            neighbours(block, [&](long other) {
                for (const Particle &q : now[at(other)]) {
                    const double x = p.x - q.x, y = p.y - q.y, near = reach * reach - x * x - y * y;
                    sum += near > 0 ? near * near * near : 0;
                }
            });
            p.density = sum / std::pow(reach, 6.0);
        }
    }
    void forces(long block) {
        const double reach = 1.0 / static_cast<double>(blocks);
        for (Particle &p : now[at(block)]) {
            double ax = 0, ay = -1;
            neighbours(block, [&](long other) {
                for (const Particle &q : now[at(other)]) {
                    const double x = p.x - q.x, y = p.y - q.y, r = std::sqrt(x * x + y * y);
                    if (r > 1e-9 && r < reach) {
                        const double push = 0.5 * (1 - r / reach) * (1 - r / reach) / r;
                        ax += push * x;
                        ay += push * y;
                    }
                }
            });
            p.ax = ax;
            p.ay = ay;
        }
    }
    void walls(long block) {
        for (Particle &p : now[at(block)]) {
            if ((p.x < 0.01 && p.vx < 0) || (p.x > 0.99 && p.vx > 0))
                p.vx = -0.5 * p.vx;
            if ((p.y < 0.01 && p.vy < 0) || (p.y > 0.99 && p.vy > 0))
                p.vy = -0.5 * p.vy;
        }
    }
    void move(long block) {
        /* No further than half a block, so that gathering from neighbours finds everybody. */
        const double step = 0.002, most = 0.5 / static_cast<double>(blocks) / step;
        for (Particle &p : now[at(block)]) {
            p.vx = std::max(-most, std::min(most, p.vx + step * p.ax));
            p.vy = std::max(-most, std::min(most, p.vy + step * p.ay));
            p.x = std::max(0.0, std::min(0.999999, p.x + step * p.vx));
            p.y = std::max(0.0, std::min(0.999999, p.y + step * p.vy));
        }
    }
    void keep(long block) { before[at(block)] = now[at(block)]; }

    void loop(void (Fluid::*phase)(long)) {
        Fluid *fluid = this;
        TP_PFOR(0, blocks * blocks, grain, [=](long a, long b) {
            for (long i = a; i < b; i++)
                (fluid->*phase)(i);
        });
    }
    void step() {
        loop(&Fluid::keep);
        loop(&Fluid::gather);
        loop(&Fluid::densities);
        loop(&Fluid::forces);
        loop(&Fluid::walls);
        loop(&Fluid::move);
    }
};

static bool run(const Arguments &arguments) {
    const long count = arguments.number(1);
    Fluid fluid(count, std::max(arguments.number(2), 1l), arguments.number(3));
    timed(arguments, [&] {
        for (long i = 0; i < arguments.number(0); i++)
            fluid.step();
    });
    long found = 0;
    double height = 0, density = 0;
    for (const Block &block : fluid.now)
        for (const Particle &p : block) {
            found++;
            height += p.y;
            density += p.density;
        }
    const double all = static_cast<double>(std::max(found, 1l));
    return say(found == count && height / all < 0.6, "moved %ld particles, mean height %.5f, density %.4f", found, height / all, density / all);
}

static const Program PROGRAM = {"fluidanimate", "[STEPS] [PARTICLES] [BLOCKS] [GRAIN]", {{3, 600, 8, 1}}, {{15, 10000, 32, 1}},
                                {{500, 500000, 128, 1}}, run};
} // namespace fluidanimate

#endif
