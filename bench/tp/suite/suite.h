/* What the programs of the suite have in common: a program's description, its arguments by size, its check. */
#ifndef WORKSPAN_BENCH_SUITE_H
#define WORKSPAN_BENCH_SUITE_H

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <memory>

#include <workspan.h>

#include "../kernel.h"

namespace suite {

/* Numbers by size, in the order of the usage. */
typedef std::array<long, 5> Numbers;

struct Arguments {
    const kernel::Arguments *words;
    Numbers defaults;

    /* The positional number at `index`, or that of the size. */
    long number(std::size_t index) const { return words->number(index, defaults[index], 0, 1l << 40); }
    std::string option(const char *name, const char *fallback) const { return words->option(name, fallback); }
    int workers() const { return words->workers(); }
    /* The serial version is run, too, and its result compared. */
    bool check() const { return option("check", option("size", "small") == "test" ? "yes" : "no") == "yes"; }
};

/* Runs the part that is measured, as the first task. Reports show it alone with
 * `--only part:measured`. In a run that is not recorded each mark is a branch. */
template <class Work> void timed(const Arguments &arguments, Work work) {
    static workspan_label measured = WORKSPAN_LABEL("measured");
    TP_RUN(arguments.workers(), [&] {
        kernel::timed(*arguments.words, [&] {
            workspan_part_begin(&measured);
            work();
            workspan_part_end(&measured);
        });
    });
}

/* Says the result; whether it is right. */
template <class... Values> bool say(bool correct, const char *format, Values... values) {
    std::printf(format, values...);
    std::printf("\n");
    return correct;
}

struct Program {
    const char *name;
    const char *usage; /* positional numbers and options */
    Numbers test, small, large;
    bool (*run)(const Arguments &);
};

typedef std::uint64_t u64;
using kernel::mixed;

/* The i-th number as a float in 0 ... 1. */
inline double unit(u64 i) { return static_cast<double>(mixed(i) >> 11) / static_cast<double>(u64(1) << 53); }

inline bool near(double a, double b, double tolerance) { return std::fabs(a - b) <= tolerance * (1.0 + std::fabs(b)); }

inline std::size_t at(long i) { return static_cast<std::size_t>(i); }

} // namespace suite

#endif
