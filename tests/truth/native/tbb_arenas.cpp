// Two arenas, one after the other, and a task put into one of them that the main thread waits for.
#include "tbb.h"
int main() {
  Threads asked;
  tbb::task_arena a(2), b(threads());
  for (tbb::task_arena *arena : {&a, &b})
    arena->execute([] {
      tbb::parallel_for(tbb::blocked_range<int>(0, 8, 1), [](const tbb::blocked_range<int> &) { spin(3500); },
                        tbb::simple_partitioner());
    });
  tbb::task_group group;
  b.execute([&] { group.run([] { spin(10000); }); });
  b.execute([&] { group.wait(); });
  spin(10000);
  TRUTH("work_us=76000 span_us=27000");
}
