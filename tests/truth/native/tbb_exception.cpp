// A task that throws: the others that have begun go on to their end.
#include <stdexcept>
#include "tbb.h"
int main() {
  Threads asked;
  int caught = 0;
  for (int i = 0; i < 4; i++) {
    try {
      tbb::task_group group;
      group.run_and_wait([] { spin(10000); throw std::runtime_error("one"); });
    } catch (const std::runtime_error &) { caught++; }
    tbb::parallel_invoke([] { spin(5000); }, [] { spin(5000); });
  }
  printf("%d\n", caught);
  TRUTH("work_us=80000 span_us=60000");
}
