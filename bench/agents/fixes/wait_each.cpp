// Starts a task for each page and waits for all at the end of the region.
#include <cstdint>
#include <cstdio>

__attribute__((noinline)) uint64_t burn(uint64_t steps, uint64_t x) {
  for (uint64_t i = 0; i < steps; i++) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    x ^= x >> 29;
  }
  return x;
}

int main() {
  uint64_t pages[200];
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int page = 0; page < 200; page++) {
#pragma omp task shared(pages)
    pages[page] = burn(1500000, page);
  }
  std::printf("%lu\n", (unsigned long)pages[7]);
}
