/* Two threads, each with regions of its own at the same time. */
#include <pthread.h>
#include "truth.h"
static void *regions(void *unused) {
  (void)unused;
  for (int i = 0; i < 2; i++) {
#pragma omp parallel num_threads(2)
    spin(8000);
  }
  return NULL;
}
int main(void) {
  pthread_t other;
  pthread_create(&other, NULL, regions, NULL);
  regions(NULL);
  pthread_join(other, NULL);
  spin(16000);
  TRUTH("work_us=80000 span_us=32000");
}
