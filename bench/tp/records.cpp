/* Reads N records of text into numbers and computes on each. With `--read serial` one strand reads them all; with `--read parallel`
 * GRAIN records are a task. ROUNDS of arithmetic each. */
#include "kernel.h"

/* Twenty digits and a line end. */
static const long WIDTH = 21;

/* Writes the lines of records `from` to `to`. */
static void write(char *text, long from, long to) {
    for (long i = from; i < to; i++) {
        char *line = text + i * WIDTH;
        std::uint64_t number = kernel::mixed(static_cast<std::uint64_t>(i));
        for (long at = WIDTH - 1; at-- > 0; number /= 10)
            line[at] = static_cast<char>('0' + number % 10);
        line[WIDTH - 1] = '\n';
    }
}

static void read(const char *text, std::uint64_t *numbers, long from, long to) {
    for (long i = from; i < to; i++) {
        const char *line = text + i * WIDTH;
        std::uint64_t number = 0;
        for (long at = 0; at < WIDTH - 1; at++)
            number = number * 10 + static_cast<std::uint64_t>(line[at] - '0');
        numbers[i] = number;
    }
}

static std::uint64_t compute(const std::uint64_t *numbers, long from, long to, long rounds) {
    std::uint64_t sum = 0;
    for (long i = from; i < to; i++)
        sum += kernel::chain(numbers[i], rounds);
    return sum;
}

int main(int words_count, char **words) {
    const kernel::Arguments arguments(words_count, words,
                                      "records [N=1000000] [GRAIN=10000] [ROUNDS=20] [--read serial|parallel]");
    const long n = arguments.number(0, 1000000, 0, 1l << 32), grain = arguments.number(1, 10000, 1, 1l << 32);
    const long rounds = arguments.number(2, 20, 0, 1l << 32);
    const bool parallel = arguments.option("read", "serial") == "parallel";
    std::vector<char> text(static_cast<std::size_t>(n * WIDTH));
    std::vector<std::uint64_t> numbers(static_cast<std::size_t>(n));
    char *const lines = text.data();
    std::uint64_t *const values = numbers.data();
    const auto computed = [=](long first, long last) { return compute(values, first, last, rounds); };
    std::uint64_t sum = 0;
    TP_RUN(arguments.workers(), [&] {
        TP_PFOR(0, n, grain, [=](long first, long last) { write(lines, first, last); });
        kernel::timed(arguments, [&] {
            if (parallel)
                TP_PFOR(0, n, grain, [=](long first, long last) { read(lines, values, first, last); });
            else
                read(lines, values, 0, n);
            TP_PFOR_REDUCE(sum, 0, n, grain, computed, [](std::uint64_t a, std::uint64_t b) { return a + b; });
        });
    });
    std::printf("read %ld records, sum %llu\n", n, static_cast<unsigned long long>(sum));
    bool expected = true;
    for (long i = 0; i < n && i < 1l << 16; i++)
        expected = expected && values[i] == kernel::mixed(static_cast<std::uint64_t>(i));
    return kernel::finish(expected);
}
