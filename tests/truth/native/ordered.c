/* A loop with an ordered part: iterations wait for each other. */
#include "truth.h"
int main(void) {
  int last = -1, wrong = 0;
#pragma omp parallel for ordered schedule(static, 1)
  for (int i = 0; i < 24; i++) {
    spin(2500);
#pragma omp ordered
    { spin(1000); wrong += i != last + 1; last = i; }
  }
  printf("%d\n", wrong);
  TRUTH("work_us=84000 span_min_us=3500");
}
