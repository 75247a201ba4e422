/* One thread works while the others wait at the end of the region: their waiting, busy or not, is no work. */
#include <omp.h>
#include "truth.h"
int main(void) {
  int p = threads();
  for (int i = 0; i < 4; i++) {
#pragma omp parallel
    spin(omp_get_thread_num() == 0 ? 18000 : 1000);
  }
  TRUTH("work_us=%d span_us=72000", 4 * (18000 + 1000 * (p - 1)));
}
