/* A loop whose iterations wait for the one before: a pipeline over the threads. */
#include "truth.h"
int main(void) {
  int last = -1, wrong = 0;
#pragma omp parallel for ordered(1) schedule(static, 1)
  for (int i = 0; i < 24; i++) {
    spin(2000);
#pragma omp ordered depend(sink: i - 1)
    spin(1500);
    wrong += i != last + 1;
    last = i;
#pragma omp ordered depend(source)
  }
  printf("%d\n", wrong);
#ifdef __clang__
  /* libomp waits busily for the iteration before and tells its tools nothing of it: the wait is among the work. */
  TRUTH("work_min_us=84000 span_min_us=3500");
#else
  TRUTH("work_us=84000 span_min_us=3500");
#endif
}
