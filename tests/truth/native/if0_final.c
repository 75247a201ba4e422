/* Tasks that are not deferred: with if(0), and those inside of a final one. */
#include "truth.h"
int main(void) {
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < 3; i++) {
#pragma omp task if(0)
      spin(5000);
    }
    for (int i = 0; i < 6; i++) {
#pragma omp task final(1)
      {
        spin(2000);
#pragma omp task
        spin(4000);
#pragma omp task
        spin(4000);
#pragma omp taskwait
      }
    }
  }
  /* 15 ms one after the other, then six times 10 ms beside each other. */
  TRUTH("work_us=75000 span_us=25000");
}
