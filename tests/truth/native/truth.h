/* What every C and C++ program of the corpus uses: CPU time of a known amount, and the lines that say what is true of the run. */
#ifndef TRUTH_H
#define TRUTH_H
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* What all calls of spin took together, in nanoseconds of CPU time. */
static long long truth_spun;
/* For how long the host of a virtual machine took the CPU away meanwhile. */
static long long truth_stolen;

static inline long long truth_clock(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* How long the calling thread has waited for a CPU, in nanoseconds; 0 where the kernel does not count it. */
static inline long long truth_waited(void) {
  static __thread int file = -1;
  char text[128];
  long long ran = 0, waited = 0;
  if (file < 0) file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  long length = file < 0 ? 0 : pread(file, text, sizeof text - 1, 0);
  text[length > 0 ? length : 0] = 0;
  sscanf(text, "%lld %lld", &ran, &waited);
  return waited;
}

/* Uses the CPU for this many microseconds of the calling thread's own CPU time, however busy the machine is. It never waits for
   anything but a CPU, so that the time which is neither used nor waited was stolen. */
__attribute__((noinline, unused)) static void spin(long us) {
  long long begin = truth_clock(CLOCK_THREAD_CPUTIME_ID);
  long long waited = truth_waited(), wall = truth_clock(CLOCK_MONOTONIC);
  long long start = truth_clock(CLOCK_THREAD_CPUTIME_ID), now = start;
  while (now < begin + us * 1000LL) now = truth_clock(CLOCK_THREAD_CPUTIME_ID);
  wall = truth_clock(CLOCK_MONOTONIC) - wall;
  long long stolen = wall - (now - start) - (truth_waited() - waited);
  if (stolen > 20000) __atomic_fetch_add(&truth_stolen, stolen, __ATOMIC_RELAXED);
  __atomic_fetch_add(&truth_spun, truth_clock(CLOCK_THREAD_CPUTIME_ID) - begin, __ATOMIC_RELAXED);
}

/* CPU time that the OpenMP runtime's own start took on the main thread, in nanoseconds. It is work of the process, recorded or bare:
   1 to 2 ms for LLVM's. It is done before main, so that no region is in it. */
static long long truth_start;

#ifdef _OPENMP
#include <omp.h>
__attribute__((constructor)) static void truth_start_runtime(void) {
  long long before = truth_clock(CLOCK_THREAD_CPUTIME_ID);
  omp_get_max_threads();
  truth_start = truth_clock(CLOCK_THREAD_CPUTIME_ID) - before;
}
#endif

/* The number of threads that the harness asked for. */
__attribute__((unused)) static int threads(void) {
  const char *asked = getenv("TRUTH_THREADS");
  return asked ? atoi(asked) : 2;
}

/* The largest part of n things that are divided among p as evenly as can be. */
__attribute__((unused)) static long largest(long n, long p) { return (n + p - 1) / p; }

#define TRUTH(...) (printf("truth " __VA_ARGS__), puts(""), truth_used())

__attribute__((unused)) static void truth_used(void) {
  printf("used cpu_us=%lld spun_us=%lld stolen_us=%lld start_us=%lld\n", truth_clock(CLOCK_PROCESS_CPUTIME_ID) / 1000,
         __atomic_load_n(&truth_spun, __ATOMIC_RELAXED) / 1000, __atomic_load_n(&truth_stolen, __ATOMIC_RELAXED) / 1000,
         truth_start / 1000);
}
#endif
