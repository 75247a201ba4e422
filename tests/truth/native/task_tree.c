/* A tree of tasks: 32 leaves of 2.5 ms, the main thread's 5 ms before and after. */
#include "truth.h"
static void tree(int depth) {
  if (depth == 0) { spin(2500); return; }
#pragma omp task
  tree(depth - 1);
#pragma omp task
  tree(depth - 1);
#pragma omp taskwait
}
int main(void) {
  spin(5000);
#pragma omp parallel
#pragma omp single
  tree(5);
  spin(5000);
  TRUTH("work_us=90000 span_us=12500 tasks=62");
}
