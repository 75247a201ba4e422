/* A task that is over when another one says so: its successor waits for that. */
#include <omp.h>
#include "truth.h"
int main(void) {
  int x = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 4; i++) {
    omp_event_handle_t event;
#pragma omp task detach(event) depend(out: x)
    spin(3000);
#pragma omp task firstprivate(event)
    { spin(8000); omp_fulfill_event(event); }
#pragma omp task depend(in: x)
    spin(4000);
#pragma omp taskwait
  }
  printf("%d\n", x);
  TRUTH("work_us=60000 span_us=48000 tasks=12");
}
