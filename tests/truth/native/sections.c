/* Four sections of different length: who runs which depends on the schedule, and each is a task. */
#include "truth.h"
int main(void) {
  spin(5000);
#pragma omp parallel sections
  {
#pragma omp section
    spin(10000);
#pragma omp section
    spin(20000);
#pragma omp section
    spin(15000);
#pragma omp section
    spin(25000);
  }
  spin(5000);
  TRUTH("work_us=80000 span_min_us=35000");
}
