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
  TRUTH("work_us=86000 span_us=11000 tasks=16");
}
