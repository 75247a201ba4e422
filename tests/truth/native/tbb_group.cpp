// A task group, with groups in its tasks.
#include "tbb.h"
int main() {
  Threads asked;
  tbb::task_group outer;
  spin(4000);
  for (int i = 0; i < 4; i++)
    outer.run([] {
      spin(3000);
      tbb::task_group inner;
      for (int k = 0; k < 5; k++) inner.run([] { spin(2500); });
      inner.wait();
      spin(2000);
    });
  outer.wait();
  spin(4000);
  TRUTH("work_us=78000 span_us=15500 tasks=24");
}
