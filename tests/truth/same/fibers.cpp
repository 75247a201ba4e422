/* oneTBB used on small stacks of the program's own, by a function whose frame is of another size each time.
 * needs: echo '#include <oneapi/tbb.h>' | g++ -fsyntax-only -x c++ -
 * build: g++ -O0 -g $SOURCE -o $PROGRAM -ltbb
 * build: g++ -O2 -g $SOURCE -o $PROGRAM.2 -ltbb
 * run: $RECORD $PROGRAM
 * run: $RECORD $PROGRAM.2
 */
#include <alloca.h>
#include <atomic>
#include <cstdio>
#include <oneapi/tbb.h>
#include <sys/mman.h>
#include <ucontext.h>
static ucontext_t outside, inside;
static std::atomic<long> sum{0};
static size_t extra;
__attribute__((noinline)) static void group() {
  tbb::task_group tasks;
  for (int i = 0; i < 4; i++) tasks.run([] { sum++; });
  tasks.wait();
  asm volatile("");
}
__attribute__((noinline)) static void with_frame(size_t bytes) {
  volatile char *room = (volatile char *)alloca(bytes);
  room[0] = room[bytes - 1] = 1;
  group();
  asm volatile("" : : "r"(room));
}
static void fiber() {
  with_frame(extra);
  swapcontext(&inside, &outside);
}
int main() {
  tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
  const size_t page = 4096, size = 16 * page;
  char *stacks[8];
  for (char *&stack : stacks) {
    stack = (char *)mmap(nullptr, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(stack, page, PROT_NONE);
  }
  for (int i = 0; i < 60; i++) {
    extra = i % 3 == 0 ? 3000 : 32 + i;
    getcontext(&inside);
    inside.uc_stack.ss_sp = stacks[i % 8] + page;
    inside.uc_stack.ss_size = size;
    makecontext(&inside, fiber, 0);
    swapcontext(&outside, &inside);
  }
  std::printf("%ld\n", sum.load());
}
