/* A loop of which every third iteration has an ordered part, dealt out two at a time. */
#include "truth.h"
int main(void) {
  int last = -3, wrong = 0;
#pragma omp parallel for ordered schedule(dynamic, 2)
  for (int i = 0; i < 24; i++) {
    spin(2500);
    if (i % 3 == 0) {
#pragma omp ordered
      { spin(1500); wrong += i != last + 3; last = i; }
    }
  }
  printf("%d\n", wrong);
  /* Two iterations next to each other, one of them with an ordered part. */
  TRUTH("work_us=72000 span_min_us=5000");
}
