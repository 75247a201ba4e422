// The standard library's parallel algorithms, which GCC builds on oneTBB.
// Usage: standard WHAT THREADS

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <execution>
#include <numeric>
#include <vector>

#include <oneapi/tbb/global_control.h>

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism, std::atoi(argv[2]));
    std::vector<unsigned> v(300000);
    unsigned x = 1;
    for (auto &e : v) e = x = x * 1664525u + 1013904223u;
    std::sort(std::execution::par, v.begin(), v.end());
    unsigned long sum = std::reduce(std::execution::par, v.begin(), v.end(), 0ul);
    std::for_each(std::execution::par, v.begin(), v.end(), [](unsigned &e) { e /= 2; });
    std::printf("%d %lu %u\n", std::is_sorted(v.begin(), v.end()), sum, v[1000]);
}
