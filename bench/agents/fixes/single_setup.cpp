// Sets a grid up inside of a parallel region, then relaxes it.
#include <cstdint>
#include <cstdio>
#include <vector>

__attribute__((noinline)) uint64_t burn(uint64_t steps, uint64_t x) {
  for (uint64_t i = 0; i < steps; i++) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    x ^= x >> 29;
  }
  return x;
}

int main() {
  std::vector<uint64_t> grid(4000);
#pragma omp parallel num_threads(2)
  {
#pragma omp for schedule(dynamic, 50)
    for (size_t i = 0; i < grid.size(); i++) grid[i] = burn(40000, i);
#pragma omp for schedule(dynamic, 50)
    for (size_t i = 0; i < grid.size(); i++) grid[i] = burn(20000, grid[i]);
  }
  std::printf("%lu\n", (unsigned long)grid[7]);
}
