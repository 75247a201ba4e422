// Works through a triangle, row by row: later rows are longer.
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
  uint64_t sum = 0;
#pragma omp parallel for num_threads(2) schedule(dynamic, 8) reduction(^ : sum)
  for (int row = 0; row < 800; row++) sum ^= burn(row * 800, row);
  std::printf("%lu\n", (unsigned long)sum);
}
