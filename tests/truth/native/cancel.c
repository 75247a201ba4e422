/* A group of tasks that is cancelled by its first one; OMP_CANCELLATION is not set, so that all run. */
#include "truth.h"
int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskgroup
    {
      for (int i = 0; i < 10; i++) {
#pragma omp task
        {
#pragma omp cancel taskgroup
          spin(6000);
        }
      }
    }
    spin(10000);
  }
  TRUTH("work_us=70000 span_us=16000 tasks=10");
}
