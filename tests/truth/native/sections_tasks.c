/* Sections that nobody waits for, one of which makes tasks, and after them sections with a reduction. */
#include "truth.h"
int main(void) {
  int sum = 0, last = 0;
#pragma omp parallel
  {
#pragma omp sections nowait
    {
#pragma omp section
      {
#pragma omp task
        spin(12000);
#pragma omp task
        spin(10000);
#pragma omp taskwait
        spin(4000);
      }
#pragma omp section
      spin(18000);
#pragma omp section
      spin(6000);
    }
#pragma omp sections reduction(+: sum) lastprivate(last)
    {
#pragma omp section
      { spin(8000); sum += 1; last = 1; }
#pragma omp section
      { spin(16000); sum += 2; last = 2; }
    }
  }
  printf("%d %d\n", sum, last);
  /* The first section needs 12 ms of a task and 4 of its own, whoever runs it. */
  TRUTH("work_us=74000 span_min_us=16000 tasks=2");
}
