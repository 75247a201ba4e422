/* Children made in three ways go on with OpenMP of one thread while the parent does; both are right in the end.
 * build: gcc -g -O1 -fopenmp $SOURCE -o $PROGRAM
 * run: for how in 0 1 2; do OMP_NUM_THREADS=1 $RECORD $PROGRAM $how; echo $?; done
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static long count(int depth) {
  if (depth == 0) return 1;
  long left, right;
#pragma omp task shared(left)
  left = count(depth - 1);
#pragma omp task shared(right)
  right = count(depth - 1);
#pragma omp taskwait
  return left + right;
}
static long leaves(int depth) {
  long sum = 0;
#pragma omp parallel
#pragma omp single
  sum = count(depth);
  return sum;
}
int main(int words, char **word) {
  int how = words > 1 ? atoi(word[1]) : 0;
  long sum = leaves(3);
  pid_t child = how == 0 ? fork() : how == 1 ? _Fork() : (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (child == 0) {
    for (int i = 0; i < 20; i++) sum += leaves(10);
    _exit(sum == 8 + 20 * 1024 ? 3 : 4);
  }
  for (int i = 0; i < 10; i++) sum += leaves(8);
  int status = 0;
  waitpid(child, &status, 0);
  printf("%ld %d\n", sum, status);
  return 5;
}
