/* Iterations taken one by one: each is a task of its own, the longest of 8 ms. LLVM's runtime gives a
 * team of one all of them at once. */
#include "truth.h"
#ifdef __clang__
enum { AT_ONCE = 1 };
#else
enum { AT_ONCE = 0 };
#endif
int main(void) {
  spin(5000);
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < 16; i++) spin(500 * (i + 1));
  spin(5000);
  TRUTH("work_us=78000 span_us=%d", AT_ONCE && threads() == 1 ? 78000 : 18000);
}
