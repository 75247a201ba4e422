/* Each way to end, and standard error that can't be written to.
 * build: gcc -g -O1 -fopenmp $SOURCE -o $PROGRAM
 * run: for how in return exit quick abort segv kill region; do $RECORD $PROGRAM $how; echo $?; done 2>/dev/null
 * run: $RECORD $PROGRAM exit 2>/dev/full; echo $?
 * run: $RECORD $PROGRAM exit 2>&-; echo $?
 * run: { $RECORD $PROGRAM exit 2>&1 >&3; echo $? >&3; } 3>&1 | true
 * run: $RECORD $PROGRAM return >/dev/full; echo $?
 * run: $RECORD $PROGRAM return </dev/null | cat
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static long region(void) {
  long sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < 100; i++) {
#pragma omp task shared(sum)
    {
#pragma omp atomic
      sum += i;
    }
  }
  return sum;
}
int main(int words, char **word) {
  const char *how = words > 1 ? word[1] : "return";
  printf("%ld\n", region());
  fflush(stdout);
  fprintf(stderr, "going to end: %s\n", how);
  if (!strcmp(how, "exit")) exit(7);
  if (!strcmp(how, "quick")) _exit(8);
  if (!strcmp(how, "abort")) abort();
  if (!strcmp(how, "segv")) raise(SIGSEGV);
  if (!strcmp(how, "kill")) raise(SIGKILL);
  if (!strcmp(how, "region")) {
#pragma omp parallel num_threads(2)
    {
#pragma omp single
      exit(9);
    }
  }
  return 5;
}
