// A reduction: the joins of parts work as well, so that the span is within the tree's depth of 16 leaves.
#include "tbb.h"
int main() {
  Threads asked;
  spin(6000);
  int sum = tbb::parallel_reduce(tbb::blocked_range<int>(0, 16, 1), 0,
    [](const tbb::blocked_range<int> &r, int sum) {
      for (int i = r.begin(); i < r.end(); i++) { spin(4500); sum += i; }
      return sum;
    }, [](int a, int b) { return a + b; }, tbb::simple_partitioner());
  printf("%d\n", sum);
  TRUTH("work_us=78000 span_us=10500");
}
