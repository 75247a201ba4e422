/* Regions of different size, one after the other. */
#include "truth.h"
int main(void) {
  long p = threads(), half = p > 1 ? p / 2 : 1, work = 8000;
  spin(4000);
  for (int i = 0; i < 2; i++) {
#pragma omp parallel num_threads(p)
    spin(12000);
#pragma omp parallel num_threads(half)
    spin(14000);
  }
  spin(4000);
  work += 2 * (12000 * p + 14000 * half);
  TRUTH("work_us=%ld span_us=60000", work);
}
