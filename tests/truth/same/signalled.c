/* A signal to whoever was started ends the program as its own handler says, or as signals do, and never before it.
 * build: gcc -g -O1 -fopenmp $SOURCE -o $PROGRAM
 * run: for signal in USR1 ALRM TERM HUP; do rm -f ready; $RECORD $PROGRAM & until [ -e ready ]; do sleep 0.02; done; kill -$signal $!; wait $!; echo $?; done 2>/dev/null
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile sig_atomic_t came;
static void note(int signal) { came = signal; }
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
int main(void) {
  signal(SIGUSR1, note);
  signal(SIGTERM, note);
  printf("%ld\n", region());
  fflush(stdout);
  close(creat("ready", 0600));
  /* Nobody sends one: a minute is over. */
  for (int i = 0; i < 600 && !came; i++) usleep(100000);
  printf("%ld, signal %d\n", region(), (int)came);
  return came == SIGUSR1 ? 5 : came ? 6 : 7;
}
