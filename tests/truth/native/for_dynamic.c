/* Iterations taken one by one: each is a task of its own, the longest of 8 ms. */
#include "truth.h"
int main(void) {
  spin(5000);
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < 16; i++) spin(500 * (i + 1));
  spin(5000);
  TRUTH("work_us=78000 span_us=18000");
}
