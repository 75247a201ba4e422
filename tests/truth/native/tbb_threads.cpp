// Three std::threads, each with a loop of its own; the main thread waits for them.
#include <thread>
#include <vector>
#include "tbb.h"
int main() {
  Threads asked;
  std::vector<std::thread> all;
  for (int i = 0; i < 3; i++)
    all.emplace_back([] {
      for (int k = 0; k < 2; k++)
        tbb::parallel_for(tbb::blocked_range<int>(0, 4, 1), [](const tbb::blocked_range<int> &) { spin(3500); },
                          tbb::simple_partitioner());
    });
  for (auto &thread : all) thread.join();
  TRUTH("work_us=84000 span_us=7000");
}
