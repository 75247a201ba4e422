/* A region of two threads each of which begins a region of two. */
#include <omp.h>
#include "truth.h"
int main(void) {
  omp_set_max_active_levels(2);
  spin(4000);
#pragma omp parallel num_threads(2)
  {
    spin(3000);
#pragma omp parallel num_threads(2)
    spin(15000);
    spin(3000);
  }
  spin(4000);
  TRUTH("work_us=80000 span_us=29000");
}
