/* Two loops of tasks that nothing waits for but the end of the region: they run beside each other. */
#include "truth.h"
int main(void) {
#pragma omp parallel
#pragma omp single
  {
    spin(4000);
#pragma omp taskloop num_tasks(8) nogroup
    for (int i = 0; i < 16; i++) spin(2500);
#pragma omp taskloop num_tasks(4) nogroup
    for (int i = 0; i < 12; i++) spin(3000);
  }
  TRUTH("work_us=80000 span_us=13000 tasks=12");
}
