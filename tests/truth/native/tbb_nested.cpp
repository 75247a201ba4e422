// A loop in the iterations of a loop.
#include "tbb.h"
int main() {
  Threads asked;
  spin(5000);
  tbb::parallel_for(tbb::blocked_range<int>(0, 4, 1), [](const tbb::blocked_range<int> &) {
    spin(2000);
    tbb::parallel_for(tbb::blocked_range<int>(0, 6, 1), [](const tbb::blocked_range<int> &) { spin(2500); },
                      tbb::simple_partitioner());
    spin(2000);
  }, tbb::simple_partitioner());
  TRUTH("work_us=81000 span_us=11500");
}
