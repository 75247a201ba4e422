/* Half of each task's work is in a critical section. */
#include "truth.h"
int main(void) {
  int sum = 0;
#pragma omp parallel
#pragma omp single
  {
    spin(6000);
    for (int i = 0; i < 16; i++) {
#pragma omp task
      {
        spin(2500);
#pragma omp critical
        { spin(2500); sum += i; }
      }
    }
  }
  printf("%d\n", sum);
  /* In the order of the lock on the span too: sections that waited for each other. */
  TRUTH("work_us=86000 span_us=11000 ordered_span_max_us=48500 tasks=16");
}
