/* Forty short regions, with the main thread alone between them. */
#include "truth.h"
int main(void) {
  for (int i = 0; i < 40; i++) {
#pragma omp parallel for schedule(static, 1)
    for (int k = 0; k < 4; k++) spin(400);
    spin(400);
  }
  TRUTH("work_us=80000 span_us=%ld", 40 * (400 + 400 * largest(4, threads())));
}
