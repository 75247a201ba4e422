/* What the kernels have in common: the command line, numbers that are the same on every machine, the result line. */
#ifndef WORKSPAN_BENCH_KERNEL_H
#define WORKSPAN_BENCH_KERNEL_H

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <workspan/tp.h>

namespace kernel {

/* Positional numbers, and `--name value` pairs: `--workers N` (0: as the runtime chooses) and `--time yes`, which has the
 * time of the kernel itself, without its input, written to stderr. */
class Arguments {
  public:
    Arguments(int count, char **words, const char *usage) {
        for (int i = 1; i < count; i++) {
            const std::string word = words[i];
            if (word.compare(0, 2, "--") == 0) {
                if (++i == count)
                    refuse(word + " needs a value", usage);
                options.push_back({word.substr(2), words[i]});
                continue;
            }
            char *end = nullptr;
            numbers.push_back(std::strtol(word.c_str(), &end, 10));
            if (word.empty() || *end != 0 || numbers.back() < 0)
                refuse("`" + word + "` is not a number", usage);
        }
    }

    /* The positional number at `index`, or `fallback`, within the bounds. */
    long number(std::size_t index, long fallback, long least, long most) const {
        const long given = index < numbers.size() ? numbers[index] : fallback;
        return given < least ? least : given > most ? most : given;
    }

    std::string option(const char *name, const char *fallback) const {
        for (std::size_t i = options.size(); i-- > 0;)
            if (options[i].name == name)
                return options[i].value;
        return fallback;
    }

    int workers() const { return std::atoi(option("workers", "0").c_str()); }

  private:
    struct Option {
        std::string name, value;
    };
    std::vector<long> numbers;
    std::vector<Option> options;

    [[noreturn]] static void refuse(const std::string &wrong, const char *usage) {
        std::fprintf(stderr, "%s\nusage: %s [--workers N] [--time yes]\n", wrong.c_str(), usage);
        std::exit(2);
    }
};

/* Runs `work` and, if asked to, says how long it took. */
template <class Work> void timed(const Arguments &arguments, Work work) {
    const std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();
    work();
    const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - started;
    if (arguments.option("time", "") == "yes")
        std::fprintf(stderr, "kernel took %lld ns\n", static_cast<long long>(took.count()));
}

/* Turns a failed check into exit code 1. */
inline int finish(bool correct) {
    if (correct)
        return 0;
    std::fprintf(stderr, "the result is wrong\n");
    return 1;
}

/* The `i`-th pseudo-random number of a stream: a Weyl sequence put through two rounds of multiply and xor-shift. */
inline std::uint64_t mixed(std::uint64_t i) {
    std::uint64_t x = (i + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
    x = (x ^ (x >> 29)) * 0xa0761d6478bd642fu;
    return x ^ (x >> 32);
}

/* The `i`-th number as a float in -1 ... 1. */
inline double mixed_float(std::uint64_t i) {
    return static_cast<double>(mixed(i) >> 11) / static_cast<double>(std::uint64_t(1) << 52) - 1.0;
}

/* A chain of `rounds` numbers in which each needs the one before: work that no compiler shortens. */
inline std::uint64_t chain(std::uint64_t seed, long rounds) {
    for (long i = 0; i < rounds; i++)
        seed = mixed(seed);
    return seed;
}

/* All bits of all numbers, in any order. */
inline std::uint64_t checksum(const double *numbers, std::size_t count) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < count; i++) {
        std::uint64_t bits;
        std::memcpy(&bits, &numbers[i], sizeof bits);
        sum += mixed(bits + i);
    }
    return sum;
}

} // namespace kernel

#endif
