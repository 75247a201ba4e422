/* Untied tasks that wait for their children in their middle. */
#include "truth.h"
int main(void) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 6; i++) {
#pragma omp task untied
    {
      spin(3000);
#pragma omp task
      spin(5000);
#pragma omp task
      spin(4000);
#pragma omp taskwait
      spin(2000);
    }
  }
  TRUTH("work_us=84000 span_us=10000 tasks=18");
}
