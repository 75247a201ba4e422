/* Exceptions, cancelling, suspending, deferring and enqueueing with oneTBB.
 * needs: echo '#include <oneapi/tbb.h>' | g++ -fsyntax-only -x c++ -
 * build: g++ -g -O1 $SOURCE -o $PROGRAM -ltbb -lpthread
 * run: for way in throw cancel suspend defer enqueue finalize uncaught; do $RECORD $PROGRAM $way; echo $?; done 2>/dev/null
 */
#include <atomic>
#include <cstdio>
#include <oneapi/tbb.h>
#include <stdexcept>
#include <string>
#include <thread>
int main(int words, char **word) {
  std::string way = words > 1 ? word[1] : "";
  std::atomic<long> count{0};
  if (way == "throw")
    for (int i = 0; i < 30; i++) {
      try {
        tbb::parallel_for(0, 500, [](int k) { if (k == 250) throw std::runtime_error("half"); });
      } catch (const std::runtime_error &) { count++; }
    }
  if (way == "cancel")
    for (int i = 0; i < 30; i++) {
      tbb::task_group_context context;
      tbb::parallel_for(tbb::blocked_range<int>(0, 1000), [&](const tbb::blocked_range<int> &) {
        context.cancel_group_execution();
      }, context);
      count += context.is_group_execution_cancelled();
    }
  if (way == "suspend") {
    tbb::task_group group;
    for (int i = 0; i < 30; i++)
      group.run([&] {
        tbb::task::suspend([](tbb::task::suspend_point point) {
          std::thread([point] { tbb::task::resume(point); }).detach();
        });
        count++;
      });
    group.wait();
  }
  if (way == "defer") {
    tbb::task_group group;
    for (int i = 0; i < 30; i++) {
      tbb::task_handle handle = group.defer([&] { count++; });
      if (i % 2) group.run(std::move(handle));
    }
    group.wait();
  }
  if (way == "enqueue") {
    tbb::task_arena arena(2);
    for (int i = 0; i < 30; i++) arena.enqueue([&] { count++; });
    while (count < 30) std::this_thread::yield();
  }
  if (way == "finalize") {
    tbb::task_scheduler_handle handle{tbb::attach{}};
    tbb::parallel_for(0, 100, [&](int) { count++; });
    count += 1000 * tbb::finalize(handle, std::nothrow);
  }
  if (way == "uncaught") tbb::parallel_for(0, 100, [](int k) { if (k == 50) throw std::runtime_error("nobody"); });
  std::printf("%s %ld\n", way.c_str(), count.load());
}
