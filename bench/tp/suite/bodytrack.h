/* bodytrack FRAMES PARTICLES SIDE GRAIN --overlap no|yes: follows a body through images with a particle filter. A frame: read
 * (serial), process (five loops of tasks: edges, blur across, blur along, weights, new particles), write (serial). With
 * --overlap yes three tasks a step: process frame t, write t-1, read t+1. A kernel of the same phases: the body is a spot. */
#ifndef SUITE_BODYTRACK_H
#define SUITE_BODYTRACK_H

#include "suite.h"

namespace bodytrack {
using namespace suite;

typedef std::vector<double> Image;

struct Point {
    double x, y;
};

struct Tracker {
    long side, grain;
    Image edges, across, blurred;
    std::vector<Point> particles, next;
    std::vector<double> weights;

    Tracker(long s, long g, long count) : side(s), grain(g), edges(at(s * s)), across(edges), blurred(edges), particles(at(count), Point{0.5, 0.5}), next(particles), weights(at(count)) {}

    /* Where the spot is. */
    static Point truth(long frame) {
        const double t = 0.1 * static_cast<double>(frame);
        return {0.5 + 0.3 * std::sin(t), 0.5 + 0.3 * std::sin(1.5 * t)};
    }

    static void read(long frame, long side, Image &image) {
        const Point spot = truth(frame);
        image.resize(at(side * side));
        for (long i = 0; i < side * side; i++) {
            const double s = static_cast<double>(side), x = static_cast<double>(i % side) / s - spot.x, y = static_cast<double>(i / side) / s - spot.y;
            image[at(i)] = (x * x + y * y < 0.01 ? 1.0 : 0.0) + 0.2 * unit(static_cast<u64>(frame * side * side + i));
        }
    }

    static void blur(const Image &in, Image &out, long i, long step, long place, long side) {
        double sum = 2 * in[at(i)];
        sum += place > 0 ? in[at(i - step)] : in[at(i)];
        sum += place + 1 < side ? in[at(i + step)] : in[at(i)];
        out[at(i)] = sum / 4;
    }

    /* The pose of a frame. */
    Point process(const Image &image, long frame) {
        const Image *in = &image;
        Tracker *t = this;
        TP_PFOR(0, side, grain, [=](long a, long b) {
            for (long i = a * t->side; i < b * t->side; i++)
                t->edges[at(i)] = (*in)[at(i)] > 0.6 ? 1.0 : 0.0;
        });
        TP_PFOR(0, side, grain, [=](long a, long b) {
            for (long i = a * t->side; i < b * t->side; i++)
                blur(t->edges, t->across, i, 1, i % t->side, t->side);
        });
        TP_PFOR(0, side, grain, [=](long a, long b) {
            for (long i = a * t->side; i < b * t->side; i++)
                blur(t->across, t->blurred, i, t->side, i / t->side, t->side);
        });
        const long count = static_cast<long>(particles.size());
        TP_PFOR(0, count, grain, [=](long a, long b) {
            for (long i = a; i < b; i++)
                t->weights[at(i)] = t->weight(t->particles[at(i)]);
        });
        double all = 0;
        Point pose = {0, 0};
        std::vector<double> sums;
        for (long i = 0; i < count; i++) {
            all += weights[at(i)];
            sums.push_back(all);
            pose = {pose.x + weights[at(i)] * particles[at(i)].x, pose.y + weights[at(i)] * particles[at(i)].y};
        }
        const std::vector<double> *chances = &sums;
        TP_PFOR(0, count, grain, [=](long a, long b) {
            for (long i = a; i < b; i++) {
                const double drawn = all * (static_cast<double>(i) + 0.5) / static_cast<double>(count);
                const long k = std::min(std::lower_bound(chances->begin(), chances->end(), drawn) - chances->begin(), count - 1);
                const u64 seed = static_cast<u64>(2 * (frame * count + i));
                t->next[at(i)] = {t->particles[at(k)].x + 0.1 * kernel::mixed_float(seed), t->particles[at(k)].y + 0.1 * kernel::mixed_float(seed + 1)};
            }
        });
        particles.swap(next);
        return {pose.x / all, pose.y / all};
    }

    /* How much of the spot lies around a point. */
    double weight(Point p) const {
        double sum = 1e-6;
        const long radius = side / 12, x = static_cast<long>(p.x * static_cast<double>(side)), y = static_cast<long>(p.y * static_cast<double>(side));
        for (long i = std::max(0l, y - radius); i < std::min(side, y + radius); i += 2)
            for (long j = std::max(0l, x - radius); j < std::min(side, x + radius); j += 2)
                sum += blurred[at(i * side + j)];
        return sum * sum;
    }
};

/* Draws the pose into the image; its sum stands for the file. */
static double written(Image &image, Point pose, long side) {
    double sum = 0;
    for (long i = 0; i < side * side; i++) {
        const double s = static_cast<double>(side), x = static_cast<double>(i % side) / s - pose.x, y = static_cast<double>(i / side) / s - pose.y;
        if (std::fabs(x) < 0.01 || std::fabs(y) < 0.01)
            image[at(i)] = 1;
        sum += image[at(i)];
    }
    return sum;
}

static bool run(const Arguments &arguments) {
    const long frames = arguments.number(0), side = std::max(arguments.number(2), 12l);
    const bool overlap = arguments.option("overlap", "no") == "yes";
    Tracker tracker(side, arguments.number(3), std::max(arguments.number(1), 1l));
    std::array<Image, 3> images;
    std::vector<Point> poses(at(frames));
    std::vector<double> sums(at(frames));
    const auto read = [&](long frame) { Tracker::read(frame, side, images[at(frame % 3)]); };
    const auto process = [&](long frame) { poses[at(frame)] = tracker.process(images[at(frame % 3)], frame); };
    const auto write = [&](long frame) { sums[at(frame)] = written(images[at(frame % 3)], poses[at(frame)], side); };
    timed(arguments, [&] {
        if (!overlap) {
            for (long t = 0; t < frames; t++) {
                read(t);
                process(t);
                write(t);
            }
            return;
        }
        if (frames > 0)
            read(0);
        for (long t = 0; t <= frames; t++) {
            TP_TASKS(stages);
            if (t > 0)
                TP_CREATE(stages, [&write, t] { write(t - 1); });
            if (t + 1 < frames)
                TP_CREATE(stages, [&read, t] { read(t + 1); });
            if (t < frames)
                process(t);
            TP_WAIT(stages);
        }
    });
    bool correct = true;
    double sum = 0, x = 0;
    for (long t = 0; t < frames; t++) {
        const Point truth = Tracker::truth(t);
        x += poses[at(t)].x;
        sum += sums[at(t)];
        if (t > 5)
            correct = correct && std::fabs(poses[at(t)].x - truth.x) < 0.2 && std::fabs(poses[at(t)].y - truth.y) < 0.2;
    }
    return say(correct, "tracked %ld frames, mean %.4f, sum %.1f", frames, x / static_cast<double>(std::max(frames, 1l)), sum);
}

static const Program PROGRAM = {"bodytrack", "[FRAMES] [PARTICLES] [SIDE] [GRAIN] [--overlap no|yes]", {{10, 200, 48, 16}},
                                {{200, 2000, 240, 16}}, {{261, 4000, 640, 16}}, run};
} // namespace bodytrack

#endif
