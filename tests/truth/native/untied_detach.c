/* Untied tasks that wait for a child in their middle and are over when another task says so: before their body's end, or after it. */
#include <omp.h>
#include "truth.h"
int main(void) {
  int x = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 6; i++) {
    omp_event_handle_t event;
#pragma omp task untied detach(event) depend(out: x)
    {
      spin(2000);
#pragma omp task
      spin(3000);
#pragma omp taskwait
      spin(1000);
    }
#pragma omp task firstprivate(event, i)
    { spin(i % 2 ? 1000 : 8000); omp_fulfill_event(event); }
#pragma omp task depend(in: x)
    spin(4000);
#pragma omp taskwait
  }
  printf("%d\n", x);
  /* An even step: 8 and 4 ms after one another; an odd one: 6 and 4. */
  TRUTH("work_us=87000 span_us=66000 tasks=24");
}
