/* A loop divided among the threads beforehand. */
#include "truth.h"
int main(void) {
  spin(8000);
#pragma omp parallel for schedule(static)
  for (int i = 0; i < 48; i++) spin(1500);
  spin(4000);
  TRUTH("work_us=84000 span_us=%ld", 12000 + 1500 * largest(48, threads()));
}
