/* Chunks of 3 iterations dealt out in turn, iteration i as long as its number says. */
#include "truth.h"
int main(void) {
  long most = 0, p = threads();
#pragma omp parallel for schedule(static, 3)
  for (int i = 0; i < 36; i++) spin(100 * i + 500);
  for (int t = 0; t < p; t++) {
    long sum = 0;
    for (int i = 0; i < 36; i++) if (i / 3 % p == t) sum += 100 * i + 500;
    if (sum > most) most = sum;
  }
  spin(5000);
  TRUTH("work_us=86000 span_us=%ld", 5000 + most);
}
