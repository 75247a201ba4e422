/* Chunks that get smaller: which iteration is in which depends on the schedule, so that the span is between the longest
 * iteration and the longest possible first chunk. */
#include "truth.h"
int main(void) {
  spin(10000);
#pragma omp parallel for schedule(guided)
  for (int i = 0; i < 64; i++) spin(1000);
  spin(6000);
  TRUTH("work_us=80000 span_min_us=17000 span_max_us=%ld", 16000 + 1000 * largest(64, threads()));
}
