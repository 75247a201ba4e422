/* Plain threads that end long before the process: none of them may count as running until its end. */
#include <pthread.h>
#include <unistd.h>
#include "truth.h"
static void *work(void *unused) {
  (void)unused;
  spin(5000);
  return NULL;
}
int main(void) {
  pthread_t threads_[4];
  spin(10000);
  for (int i = 0; i < 4; i++) pthread_create(threads_ + i, NULL, work, NULL);
  for (int i = 0; i < 4; i++) pthread_join(threads_[i], NULL);
#pragma omp parallel for schedule(static)
  for (int i = 0; i < 48; i++) spin(1000);
  usleep(60000);
  spin(5000);
  TRUTH("work_us=83000 span_us=%ld", 20000 + 1000 * largest(48, threads()));
}
