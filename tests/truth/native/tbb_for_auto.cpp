// A loop that oneTBB divides as it likes: only the work is known.
#include "tbb.h"
int main() {
  Threads asked;
  tbb::parallel_for(0, 60, [](int) { spin(1500); });
  TRUTH("work_us=90000 span_min_us=1500");
}
