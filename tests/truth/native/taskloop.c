/* A loop whose iterations are tasks, one each, of 2 ms. */
#include "truth.h"
int main(void) {
  spin(6000);
#pragma omp parallel
#pragma omp single
#pragma omp taskloop grainsize(1)
  for (int i = 0; i < 40; i++) spin(2000);
  spin(2000);
#ifdef __clang__
  /* libomp divides a long loop by further tasks of its own: as many as depends on the number of threads. */
  TRUTH("work_us=88000 span_us=10000");
#else
  TRUTH("work_us=88000 span_us=10000 tasks=40");
#endif
}
