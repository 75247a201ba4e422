/* After its first region the program forbids itself a system call, with an error or with death, and goes on.
 * Death at fallocate, prlimit64 and fstat (285, 302, 5) is left out: a full chunk needs them, as docs/reliability.md says.
 * build: gcc -g -O1 -fopenmp $SOURCE -o $PROGRAM
 * run: for call in 285 302 5 39 257; do $RECORD $PROGRAM $call error; echo $?; done
 * run: for call in 39 257 228; do $RECORD $PROGRAM $call death; echo $?; done
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
static long region(void) {
  long sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < 3000; i++) {
#pragma omp task shared(sum)
    {
#pragma omp atomic
      sum += i;
    }
  }
  return sum;
}
int main(int words, char **word) {
  if (words < 3) return 2;
  unsigned how = strcmp(word[2], "death") ? SECCOMP_RET_ERRNO | EPERM : SECCOMP_RET_KILL_PROCESS;
  char line[64];
  int length = snprintf(line, sizeof line, "%ld\n", region());
  fwrite(line, 1, length, stdout);
  fflush(stdout);
  struct sock_filter filter[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)atoi(word[1]), 0, 1),
    BPF_STMT(BPF_RET | BPF_K, how),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 3;
  for (int i = 0; i < 20; i++) region();
  printf("%ld\n", region());
  return 0;
}
