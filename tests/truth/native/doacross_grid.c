/* A wave over a grid: each cell waits for the one above it, of another iteration, and the one to its left. */
#include "truth.h"
enum { ROWS = 8, COLUMNS = 5 };
static int done[ROWS + 1][COLUMNS + 1];
int main(void) {
  int wrong = 0;
#pragma omp parallel for ordered(2) schedule(static, 1) reduction(+: wrong)
  for (int i = 1; i <= ROWS; i++)
    for (int j = 1; j <= COLUMNS; j++) {
      spin(1000);
#pragma omp ordered depend(sink: i - 1, j) depend(sink: i, j - 1)
      spin(1000);
      wrong += (i > 1 && !done[i - 1][j]) || (j > 1 && !done[i][j - 1]);
      done[i][j] = 1;
#pragma omp ordered depend(source)
    }
  printf("%d\n", wrong);
  /* A row is one thread's. */
#ifdef __clang__
  /* libomp waits busily, as in doacross.c. */
  TRUTH("work_min_us=80000 span_min_us=10000");
#else
  TRUTH("work_us=80000 span_min_us=10000");
#endif
}
