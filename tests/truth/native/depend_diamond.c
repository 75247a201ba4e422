/* One task, then six that read what it wrote, then one that waits for the six; three times. */
#include "truth.h"
int main(void) {
  int x = 0, y[6] = {0};
#pragma omp parallel
#pragma omp single
  for (int round = 0; round < 3; round++) {
#pragma omp task depend(out: x)
    { spin(3000); x++; }
    for (int i = 0; i < 6; i++) {
#pragma omp task depend(in: x) depend(out: y[i]) firstprivate(i)
      { spin(4000); y[i] += x; }
    }
#pragma omp task depend(in: y[0], y[1], y[2], y[3], y[4], y[5]) depend(inout: x)
    spin(2000);
  }
  printf("%d %d\n", x, y[5]);
  TRUTH("work_us=87000 span_us=27000 tasks=24");
}
