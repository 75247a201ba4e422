/* ferret QUERIES BATCH DATABASE GRAIN: finds the images of a data base that are most like each query. Batches of BATCH queries in
 * sequence; in each one loop over them, whose leaf does all stages: load, segment, extract, index, rank. Output is serial and
 * last. A kernel of the same structure: images are generated, a segment's features are its mean and variance. */
#ifndef SUITE_FERRET_H
#define SUITE_FERRET_H

#include "suite.h"

namespace ferret {
using namespace suite;

static const long SIDE = 32, SEGMENTS = 4, TOP = 5;
typedef std::array<double, 8> Features;

/* Load: half of the images are near copies of one of eight. */
static std::vector<double> load(u64 image) {
    std::vector<double> pixels;
    for (u64 i = 0; i < static_cast<u64>(SIDE * SIDE); i++)
        pixels.push_back(0.8 * unit(image % 8 * 100000 + i / 64) + 0.2 * unit(image * 5000 + i));
    return pixels;
}

/* Segment: which of four levels each pixel is nearest to, the levels moved to their means thrice. Extract: mean and variance. */
static Features extract(const std::vector<double> &pixels) {
    double levels[SEGMENTS] = {0.2, 0.4, 0.6, 0.8}, variance[SEGMENTS] = {};
    for (int round = 0; round < 3; round++) {
        double sum[SEGMENTS] = {}, squares[SEGMENTS] = {}, count[SEGMENTS] = {};
        for (double x : pixels) {
            long nearest = 0;
            for (long k = 1; k < SEGMENTS; k++)
                if (std::fabs(x - levels[k]) < std::fabs(x - levels[nearest]))
                    nearest = k;
            sum[nearest] += x;
            squares[nearest] += x * x;
            count[nearest] += 1;
        }
        for (long k = 0; k < SEGMENTS; k++) {
            if (count[k] == 0)
                continue;
            levels[k] = sum[k] / count[k];
            variance[k] = squares[k] / count[k] - levels[k] * levels[k];
        }
    }
    Features features;
    for (long k = 0; k < SEGMENTS; k++) {
        features[at(k)] = levels[k];
        features[at(k + SEGMENTS)] = variance[k];
    }
    return features;
}

static double distance(const Features &a, const Features &b) {
    double sum = 0;
    for (std::size_t k = 0; k < a.size(); k++)
        sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sum;
}

/* Images by a coarse hash of their features. */
struct Database {
    std::vector<Features> images;
    std::array<std::vector<long>, 64> buckets;

    static std::size_t bucket(const Features &f) {
        return static_cast<std::size_t>(f[0] * 40) % 4 * 16 + static_cast<std::size_t>(f[1] * 40) % 4 * 4 + static_cast<std::size_t>(f[2] * 40) % 4;
    }
    /* Index and rank: the sum of the numbers of the nearest of the bucket and its neighbour. */
    long query(u64 image) const {
        const Features f = extract(load(image));
        std::vector<std::pair<double, long>> found;
        for (std::size_t probe = 0; probe < 2; probe++)
            for (long i : buckets[(bucket(f) + probe) % 64])
                found.push_back({distance(f, images[at(i)]), i});
        const std::size_t top = std::min(found.size(), at(TOP));
        std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(top), found.end());
        long sum = 0;
        for (std::size_t k = 0; k < top; k++)
            sum += found[k].second + 1;
        return sum;
    }
};

static bool run(const Arguments &arguments) {
    const long n = arguments.number(0), batch = std::max(arguments.number(1), 1l), size = arguments.number(2);
    Database database{std::vector<Features>(at(size)), {}};
    for (long i = 0; i < size; i++) {
        /* Features of the data base are drawn around those of the eight images. */
        Features f;
        for (u64 k = 0; k < 8; k++)
            f[k] = k < 4 ? 0.2 * static_cast<double>(k + 1) + 0.2 * unit(static_cast<u64>(i) * 8 + k) - 0.1 : 0.01 * unit(static_cast<u64>(i) * 8 + k);
        database.images[at(i)] = f;
        database.buckets[Database::bucket(f)].push_back(i);
    }
    std::vector<long> answers(at(n));
    long *out = answers.data();
    const Database *shared = &database;
    timed(arguments, [&] {
        for (long first = 0; first < n; first += batch) {
            const long last = std::min(n, first + batch);
            TP_PFOR(first, last, arguments.number(3), [=](long a, long b) {
                for (long i = a; i < b; i++)
                    out[i] = shared->query(static_cast<u64>(i));
            });
        }
    });
    long sum = 0;
    bool correct = true;
    for (long i = 0; i < n; i++) {
        sum += answers[at(i)];
        if (arguments.check())
            correct = correct && answers[at(i)] == database.query(static_cast<u64>(i));
    }
    return say(correct, "answered %ld queries, sum %ld", n, sum);
}

static const Program PROGRAM = {"ferret", "[QUERIES] [BATCH] [DATABASE] [GRAIN]", {{60, 20, 500, 1}}, {{10000, 100, 12000, 1}},
                                {{35000, 100, 59695, 1}}, run};
} // namespace ferret

#endif
