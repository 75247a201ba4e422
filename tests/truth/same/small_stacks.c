/* Threads with the smallest stacks there are, and OpenMP's on small ones.
 * build: gcc -g -O1 -fopenmp $SOURCE -o $PROGRAM -lpthread
 * build: $CLANG -g -O1 -fopenmp $SOURCE -o $PROGRAM.llvm -lpthread
 * run: OMP_STACKSIZE=16K OMP_NUM_THREADS=4 $RECORD $PROGRAM
 * run: OMP_STACKSIZE=16K OMP_NUM_THREADS=4 $RECORD $PROGRAM.llvm
 */
#include <pthread.h>
#include <stdio.h>
static void *nothing(void *argument) { return argument; }
int main(void) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  for (size_t size = 16384; size < 100000; size += 1024) {
    pthread_t thread;
    if (pthread_attr_setstacksize(&attributes, size) || pthread_create(&thread, &attributes, nothing, NULL)) continue;
    pthread_join(thread, NULL);
    printf("%zu bytes are enough\n", size);
    break;
  }
  int members = 0;
#pragma omp parallel reduction(+: members)
  members++;
  printf("%d members\n", members);
  return 0;
}
