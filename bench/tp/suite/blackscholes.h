/* blackscholes OPTIONS RUNS GRAIN: prices of European options by Black and Scholes. RUNS times one flat, even loop, halved into
 * tasks of GRAIN options or fewer. */
#ifndef SUITE_BLACKSCHOLES_H
#define SUITE_BLACKSCHOLES_H

#include "suite.h"

namespace blackscholes {
using namespace suite;

struct Option {
    double spot, strike, rate, volatility, years;
    bool put;
};

/* The normal distribution function: polynomial 26.2.17 of Abramowitz and Stegun. */
static double normal(double x) {
    static const double FACTORS[5] = {1.330274429, -1.821255978, 1.781477937, -0.356563782, 0.319381530};
    const double t = 1.0 / (1.0 + 0.2316419 * std::fabs(x));
    double sum = 0;
    for (double factor : FACTORS)
        sum = (sum + factor) * t;
    const double tail = std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::acos(-1.0)) * sum;
    return x < 0 ? tail : 1.0 - tail;
}

static double price(const Option &o) {
    const double wide = o.volatility * std::sqrt(o.years), discounted = o.strike * std::exp(-o.rate * o.years);
    const double d1 = (std::log(o.spot / o.strike) + (o.rate + 0.5 * o.volatility * o.volatility) * o.years) / wide;
    const double call = o.spot * normal(d1) - discounted * normal(d1 - wide);
    return o.put ? call - o.spot + discounted : call;
}

static bool run(const Arguments &arguments) {
    const long n = std::max(arguments.number(0), 2l), grain = arguments.number(2);
    /* The first two are a textbook's: 4.76 and 0.81. */
    std::vector<Option> options = {{42, 40, 0.1, 0.2, 0.5, false}, {42, 40, 0.1, 0.2, 0.5, true}};
    for (long i = 2; i < n; i++) {
        const u64 k = static_cast<u64>(4 * i);
        options.push_back({50 + 100 * unit(k), 50 + 100 * unit(k + 1), 0.05, 0.1 + 0.5 * unit(k + 2), 0.1 + unit(k + 3), i % 2 == 1});
    }
    std::vector<double> prices(at(n));
    const Option *in = options.data();
    double *out = prices.data();
    timed(arguments, [&] {
        for (long step = 0; step < arguments.number(1); step++)
            TP_PFOR(0, n, grain, [=](long a, long b) {
                for (long i = a; i < b; i++)
                    out[i] = price(in[i]);
            });
    });
    double sum = 0;
    for (double p : prices)
        sum += p;
    const bool correct = std::fabs(prices[0] - 4.7594) < 1e-4 && std::fabs(prices[1] - 0.8086) < 1e-4;
    return say(correct, "priced %ld options, mean %.6f", n, sum / static_cast<double>(n));
}

static const Program PROGRAM = {"blackscholes", "[OPTIONS] [RUNS] [GRAIN]", {{4000, 4, 500}}, {{200000, 60, 10000}},
                                {{10000000, 100, 10000}}, run};
} // namespace blackscholes

#endif
