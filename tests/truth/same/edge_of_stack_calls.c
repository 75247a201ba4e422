/* Each call that libgomp takes with arguments on the stack, and some without, by the very first function of a stack of the program's own.
 * build: gcc -O2 -fopenmp $SOURCE -o $PROGRAM
 * build: $CLANG -O2 -fopenmp $SOURCE -o $PROGRAM.llvm
 * run: $RECORD $PROGRAM
 * run: $RECORD $PROGRAM.llvm
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>
static ucontext_t outside, inside;
static long sum;
static void undeferred(void) {
#pragma omp task shared(sum) if(0)
  sum++;
}
static void one_thread(void) {
#pragma omp parallel num_threads(1)
  {
#pragma omp task
    sum++;
  }
}
static void wait_for_tasks(void) {
#pragma omp taskwait
}
static void loop_of_tasks(void) {
#pragma omp taskloop grainsize(2) reduction(+: sum)
  for (int i = 0; i < 9; i++) sum++;
}
static void ordering(void) {
#pragma omp task depend(inout: sum)
  sum++;
#pragma omp task depend(inout: sum)
  sum++;
#pragma omp taskwait depend(in: sum)
}
static void doacross(void) {
#pragma omp parallel for ordered(1) schedule(static, 1) num_threads(2)
  for (int i = 0; i < 6; i++) {
#pragma omp ordered depend(sink: i - 1)
    sum++;
#pragma omp ordered depend(source)
  }
}
int main(void) {
  void (*all[])(void) = {undeferred, one_thread, wait_for_tasks, loop_of_tasks, ordering, doacross};
  const size_t page = 4096, size = 16 * page;
  for (int i = 0; i < 60; i++) {
    char *stack = mmap(NULL, size + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(stack + page, size, PROT_READ | PROT_WRITE);
    getcontext(&inside);
    inside.uc_stack.ss_sp = stack + page;
    inside.uc_stack.ss_size = size;
    inside.uc_link = &outside;
    makecontext(&inside, all[i % 6], 0);
    swapcontext(&outside, &inside);
    munmap(stack, size + 2 * page);
  }
  printf("%ld\n", sum);
  return 0;
}
