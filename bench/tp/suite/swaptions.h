/* swaptions SWAPTIONS TRIALS GRAIN: prices of swaptions by Monte Carlo over paths of a forward curve. One loop over the swaptions.
 * A kernel of the same structure as the original: one factor, ten forward rates. */
#ifndef SUITE_SWAPTIONS_H
#define SUITE_SWAPTIONS_H

#include "suite.h"

namespace swaptions {
using namespace suite;

static const int RATES = 10;
static const double YEAR = 0.5;

/* A number of about a normal distribution: the sum of twelve even ones. */
static double gaussian(u64 seed) {
    double sum = -6.0;
    for (u64 i = 0; i < 12; i++)
        sum += unit(seed * 12 + i);
    return sum;
}

/* The mean discounted value of the right to swap at `strike` after half of the curve's years. */
static double price(long number, long trials) {
    const double strike = 0.03 + 0.04 * unit(static_cast<u64>(number)), volatility = 0.1 + 0.2 * unit(static_cast<u64>(number) + 1000000);
    double sum = 0;
    for (long trial = 0; trial < trials; trial++) {
        double rates[RATES], discount = 1.0;
        for (double &rate : rates)
            rate = 0.05;
        for (int step = 0; step < RATES / 2; step++) {
            const u64 seed = (static_cast<u64>(number) * 1000003 + static_cast<u64>(trial)) * RATES + static_cast<u64>(step);
            const double shock = volatility * std::sqrt(YEAR) * gaussian(seed);
            discount /= 1.0 + YEAR * rates[step];
            for (int k = step + 1; k < RATES; k++)
                rates[k] *= std::exp(shock - 0.5 * volatility * volatility * YEAR);
        }
        double value = 0, factor = 1.0;
        for (int k = RATES / 2; k < RATES; k++) {
            factor /= 1.0 + YEAR * rates[k];
            value += YEAR * factor * (rates[k] - strike);
        }
        sum += discount * std::max(value, 0.0);
    }
    return sum / static_cast<double>(std::max(trials, 1l));
}

static bool run(const Arguments &arguments) {
    const long n = arguments.number(0), trials = arguments.number(1);
    std::vector<double> prices(at(n));
    double *out = prices.data();
    timed(arguments, [&] {
        TP_PFOR(0, n, arguments.number(2), [=](long a, long b) {
            for (long i = a; i < b; i++)
                out[i] = price(i, trials);
        });
    });
    double sum = 0;
    bool correct = true;
    for (long i = 0; i < n; i++) {
        sum += prices[at(i)];
        correct = correct && prices[at(i)] >= 0 && prices[at(i)] < 0.2;
        if (arguments.check())
            correct = correct && prices[at(i)] == price(i, trials);
    }
    return say(correct, "priced %ld swaptions, mean %.6f", n, sum / static_cast<double>(std::max(n, 1l)));
}

static const Program PROGRAM = {"swaptions", "[SWAPTIONS] [TRIALS] [GRAIN]", {{32, 20, 1}}, {{128, 8000, 1}}, {{128, 100000, 1}}, run};
} // namespace swaptions

#endif
