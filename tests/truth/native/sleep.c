/* Tasks that sleep for 10 ms between two halves of their work, and a sleeping main thread. */
#include <unistd.h>
#include "truth.h"
int main(void) {
  spin(5000);
  usleep(30000);
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 10; i++) {
#pragma omp task
    { spin(3500); usleep(10000); spin(3500); }
  }
  TRUTH("work_us=75000 span_us=12000 tasks=10 blocked_us=130000");
}
