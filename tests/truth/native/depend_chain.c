/* Two chains of dependent tasks beside tasks that depend on nothing. */
#include "truth.h"
int main(void) {
  int a = 0, b = 0;
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < 10; i++) {
#pragma omp task depend(inout: a)
      { spin(3000); a++; }
#pragma omp task depend(inout: b)
      { spin(2000); b++; }
#pragma omp task
      spin(4000);
    }
  }
  printf("%d %d\n", a, b);
  TRUTH("work_us=90000 span_us=30000 tasks=30");
}
