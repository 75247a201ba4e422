// Four functions at once, one of which calls two more.
#include "tbb.h"
int main() {
  Threads asked;
  spin(5000);
  tbb::parallel_invoke([] { spin(15000); }, [] { spin(20000); },
    [] { spin(5000); tbb::parallel_invoke([] { spin(10000); }, [] { spin(12000); }); }, [] { spin(8000); });
  spin(5000);
  TRUTH("work_us=80000 span_us=30000");
}
