/* OpenMP entered by the very first function of a stack of the program's own, above which nothing is mapped.
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
static void on_the_edge(void) {
#pragma omp parallel num_threads(2)
  {
#pragma omp task
    {
#pragma omp atomic
      sum++;
    }
  }
}
int main(void) {
  const size_t page = 4096, size = 16 * page;
  for (int i = 0; i < 40; i++) {
    char *stack = mmap(NULL, size + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(stack + page, size, PROT_READ | PROT_WRITE);
    getcontext(&inside);
    inside.uc_stack.ss_sp = stack + page;
    inside.uc_stack.ss_size = size;
    inside.uc_link = &outside;
    makecontext(&inside, on_the_edge, 0);
    swapcontext(&outside, &inside);
    munmap(stack, size + 2 * page);
  }
  printf("%ld\n", sum);
  return 0;
}
