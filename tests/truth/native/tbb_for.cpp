// A loop divided down to single iterations.
#include "tbb.h"
int main() {
  Threads asked;
  spin(6000);
  tbb::parallel_for(tbb::blocked_range<int>(0, 40, 1), [](const tbb::blocked_range<int> &r) {
    for (int i = r.begin(); i < r.end(); i++) spin(2000);
  }, tbb::simple_partitioner());
  spin(4000);
  TRUTH("work_us=90000 span_us=12000");
}
