/* oneTBB on stacks that are mapped and unmapped at one place, large and small ones in turn: what was inside of a stack is a guard page next.
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
static void run_on(char *stack, size_t size, size_t bytes) {
  extra = bytes;
  mprotect(stack, size, PROT_READ | PROT_WRITE);
  getcontext(&inside);
  inside.uc_stack.ss_sp = stack;
  inside.uc_stack.ss_size = size;
  inside.uc_link = &outside;
  makecontext(&inside, fiber, 0);
  swapcontext(&outside, &inside);
}
int main() {
  tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
  const size_t large = 1 << 20, small = 64 << 10;
  const int nothing = MAP_PRIVATE | MAP_ANONYMOUS;
  char *place = (char *)mmap(nullptr, large, PROT_NONE, nothing, -1, 0);
  for (int i = 0; i < 20; i++) {
    run_on(place, large, 40000);
    mmap(place, large, PROT_NONE, nothing | MAP_FIXED, -1, 0);
    // The pages above a small one are not there.
    for (size_t below = 3; below > 1; below--) {
      run_on(place + large - below * small, small, 16 * below);
      mmap(place, large, PROT_NONE, nothing | MAP_FIXED, -1, 0);
    }
  }
  printf("%ld\n", sum.load());
  return 0;
}
