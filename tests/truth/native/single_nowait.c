/* Two single constructs that nobody waits for, and a loop after them. */
#include "truth.h"
int main(void) {
#pragma omp parallel
  {
#pragma omp single nowait
    {
      for (int i = 0; i < 8; i++) {
#pragma omp task
        spin(4000);
      }
    }
#pragma omp single nowait
    {
      for (int i = 0; i < 8; i++) {
#pragma omp task
        spin(4000);
      }
    }
#pragma omp barrier
#pragma omp single
    spin(16000);
  }
  TRUTH("work_us=80000 span_us=20000 tasks=16");
}
