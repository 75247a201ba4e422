/* A task reduction: a wait for all tasks of the group. */
#include "truth.h"
int main(void) {
  int sum = 0;
#pragma omp parallel
#pragma omp single
  {
    spin(5000);
#pragma omp taskgroup task_reduction(+: sum)
    for (int i = 0; i < 20; i++) {
#pragma omp task in_reduction(+: sum)
      { spin(3500); sum += i; }
    }
    spin(5000);
  }
  printf("%d\n", sum);
  TRUTH("work_us=80000 span_us=13500 tasks=20");
}
