// oneTBB in C++: quicksort by task_group, checked by parallel_reduce.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_invoke.h>
#include <oneapi/tbb/parallel_reduce.h>
#include <oneapi/tbb/task_group.h>

typedef std::vector<unsigned>::iterator Place;

static void quicksort(Place begin, Place end) {
    if (end - begin < 2000) {
        std::sort(begin, end);
        return;
    }
    const unsigned pivot = begin[(end - begin) / 2];
    const Place low = std::partition(begin, end, [pivot](unsigned x) { return x < pivot; });
    const Place high = std::partition(low, end, [pivot](unsigned x) { return x == pivot; });
    tbb::task_group halves;
    halves.run([begin, low] { quicksort(begin, low); });
    quicksort(high, end);
    halves.wait();
}

int main(int argc, char **argv) {
    const std::size_t count = argc > 1 ? static_cast<std::size_t>(std::atol(argv[1])) : 1000000;
    std::vector<unsigned> numbers(count);
    unsigned last = 1;
    for (unsigned &number : numbers)
        number = last = last * 1664525u + 1013904223u;
    quicksort(numbers.begin(), numbers.end());
    const std::size_t wrong = tbb::parallel_reduce(
        tbb::blocked_range<std::size_t>(1, std::max<std::size_t>(count, 1), 10000), std::size_t(0),
        [&numbers](const tbb::blocked_range<std::size_t> &range, std::size_t found) {
            for (std::size_t i = range.begin(); i < range.end(); i++)
                found += numbers[i - 1] > numbers[i];
            return found;
        },
        [](std::size_t a, std::size_t b) { return a + b; });
    std::printf("%zu numbers, %zu out of order\n", count, wrong);
    return wrong != 0;
}
