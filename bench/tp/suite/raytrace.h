/* raytrace WIDTH HEIGHT FRAMES TILE: draws spheres with shadows and reflections. Frames in sequence; each is split along its
 * longer side, recursively, down to tiles of TILE x TILE pixels. A kernel of the same structure: no hierarchy of volumes. */
#ifndef SUITE_RAYTRACE_H
#define SUITE_RAYTRACE_H

#include "suite.h"

namespace raytrace {
using namespace suite;

struct Vector {
    double x, y, z;
};

static Vector operator+(Vector a, Vector b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
static Vector operator-(Vector a, Vector b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
static Vector operator*(double s, Vector a) { return {s * a.x, s * a.y, s * a.z}; }
static double dot(Vector a, Vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static Vector normal(Vector a) { return (1.0 / std::sqrt(dot(a, a))) * a; }

struct Sphere {
    Vector center;
    double radius, shine;
};

struct Scene {
    std::vector<Sphere> spheres;

    Scene() {
        for (u64 i = 0; i < 40; i++)
            spheres.push_back({{6 * unit(5 * i) - 3, 4 * unit(5 * i + 1) - 2, 4 + 6 * unit(5 * i + 2)}, 0.2 + 0.4 * unit(5 * i + 3), unit(5 * i + 4)});
    }

    /* The nearest sphere that a ray meets, or null; and how far it is. */
    const Sphere *hit(Vector from, Vector to, double &distance) const {
        const Sphere *nearest = nullptr;
        distance = 1e9;
        for (const Sphere &sphere : spheres) {
            const Vector away = from - sphere.center;
            const double half = dot(away, to), rest = dot(away, away) - sphere.radius * sphere.radius, root = half * half - rest;
            if (root <= 0)
                continue;
            const double t = -half - std::sqrt(root);
            if (t > 1e-6 && t < distance) {
                distance = t;
                nearest = &sphere;
            }
        }
        return nearest;
    }

    double light(Vector from, Vector to, int bounces) const {
        double distance = 0, ignored = 0;
        const Sphere *sphere = hit(from, to, distance);
        if (sphere == nullptr)
            return 0.3 + 0.2 * to.y;
        const Vector point = from + distance * to, out = normal(point - sphere->center), sun = normal({-1, 2, -1.5});
        double value = 0.1;
        if (hit(point + 1e-4 * out, sun, ignored) == nullptr)
            value += 0.7 * std::max(0.0, dot(out, sun));
        if (bounces > 0)
            value += 0.5 * sphere->shine * light(point + 1e-4 * out, normal(to - 2 * dot(to, out) * out), bounces - 1);
        return value;
    }
};

struct Frame {
    const Scene *scene;
    long width, height, tile;
    std::vector<unsigned char> pixels;

    void draw(long left, long top, long right, long bottom) {
        for (long y = top; y < bottom; y++)
            for (long x = left; x < right; x++) {
                const double w = static_cast<double>(width);
                const Vector to = normal({(static_cast<double>(x) - w / 2) / w, (static_cast<double>(height) / 2 - static_cast<double>(y)) / w, 1});
                pixels[at(y * width + x)] = static_cast<unsigned char>(std::min(1.0, scene->light({0, 0, 0}, to, 3)) * 255);
            }
    }

    void split(long left, long top, long right, long bottom) {
        const bool wide = right - left >= bottom - top;
        if (std::max(right - left, bottom - top) <= tile) {
            draw(left, top, right, bottom);
            return;
        }
        const long middle = wide ? left + (right - left) / 2 : top + (bottom - top) / 2;
        TP_TASKS(half);
        TP_CREATE(half, [=] { wide ? split(left, top, middle, bottom) : split(left, top, right, middle); });
        TP_CREATE_AND_WAIT(half, [=] { wide ? split(middle, top, right, bottom) : split(left, middle, right, bottom); });
    }
};

static bool run(const Arguments &arguments) {
    const Scene scene;
    const long width = arguments.number(0), height = arguments.number(1);
    Frame frame{&scene, width, height, std::max(arguments.number(3), 1l), std::vector<unsigned char>(at(width * height))};
    timed(arguments, [&] {
        for (long i = 0; i < arguments.number(2); i++)
            frame.split(0, 0, width, height);
    });
    long sum = 0;
    for (unsigned char pixel : frame.pixels)
        sum += pixel;
    bool correct = true;
    if (arguments.check()) {
        Frame again = frame;
        again.draw(0, 0, width, height);
        correct = again.pixels == frame.pixels;
    }
    return say(correct, "drew %ld x %ld pixels, sum %ld", width, height, sum);
}

static const Program PROGRAM = {"raytrace", "[WIDTH] [HEIGHT] [FRAMES] [TILE]", {{64, 40, 2, 8}}, {{480, 270, 8, 8}},
                                {{1920, 1080, 200, 8}}, run};
} // namespace raytrace

#endif
