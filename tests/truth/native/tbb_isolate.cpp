// An isolated loop in each task: a waiting thread takes none of the outer tasks meanwhile.
#include "tbb.h"
int main() {
  Threads asked;
  tbb::task_group group;
  for (int i = 0; i < 6; i++)
    group.run([] {
      spin(3000);
      tbb::this_task_arena::isolate([] {
        tbb::parallel_for(tbb::blocked_range<int>(0, 4, 1), [](const tbb::blocked_range<int> &) { spin(2000); },
                          tbb::simple_partitioner());
      });
      spin(2000);
    });
  group.wait();
  spin(6000);
  TRUTH("work_us=84000 span_us=13000");
}
