// Tasks that sleep for 10 ms between two halves of their work.
#include <chrono>
#include <thread>
#include "tbb.h"
int main() {
  Threads asked;
  spin(5000);
  tbb::task_group group;
  for (int i = 0; i < 10; i++)
    group.run([] {
      spin(3500);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      spin(3500);
    });
  group.wait();
  TRUTH("work_us=75000 span_us=12000 tasks=10 blocked_us=100000");
}
