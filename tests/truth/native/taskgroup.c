/* A taskgroup waits for grandchildren, a taskwait does not. */
#include "truth.h"
static void three(long us) {
  for (int i = 0; i < 3; i++) {
#pragma omp task
    {
      spin(1000);
#pragma omp task
      spin(us);
    }
  }
}
int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskgroup
    three(9000);
    /* 1 + 9 ms until here. */
    spin(2000);
    three(7000);
#pragma omp taskwait
    /* 1 ms more; the grandchildren's 7 ms run beside this. */
    spin(12000);
  }
  TRUTH("work_us=68000 span_us=25000 tasks=12");
}
