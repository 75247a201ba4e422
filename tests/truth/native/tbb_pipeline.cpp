// A pipeline of a serial, a parallel and a serial stage: 24 items; the middle takes 2.5 ms.
#include "tbb.h"
int main() {
  Threads asked;
  int next = 0;
  long sum = 0;
  tbb::parallel_pipeline(8,
    tbb::make_filter<void, int>(tbb::filter_mode::serial_in_order, [&](tbb::flow_control &f) {
      if (next == 24) { f.stop(); return 0; }
      spin(500);
      return next++;
    }) &
    tbb::make_filter<int, int>(tbb::filter_mode::parallel, [](int i) { spin(2500); return i * 2; }) &
    tbb::make_filter<int, void>(tbb::filter_mode::serial_in_order, [&](int i) { spin(500); sum += i; }));
  printf("%ld\n", sum);
  TRUTH("work_us=84000 span_min_us=3500");
}
