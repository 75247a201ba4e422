/* What every C and C++ program of the corpus uses: CPU time of a known amount, and the lines that say what is true of the run. */
#ifndef TRUTH_H
#define TRUTH_H
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

/* What all calls of spin took together, in nanoseconds of CPU time. */
static long long truth_spun;
/* For how long a hypervisor took the CPU away meanwhile, which neither the kernel's records of the thread nor its CPU time show. */
static long long truth_stolen;

static inline long long truth_clock(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* How often the calling thread has left its CPU. */
static inline long truth_switches(void) {
  struct rusage used;
  getrusage(RUSAGE_THREAD, &used);
  return used.ru_nvcsw + used.ru_nivcsw;
}

/* Uses the CPU for this many microseconds of the calling thread's own CPU time, however busy the machine is. */
__attribute__((noinline, unused)) static void spin(long us) {
  long switches = truth_switches();
  long long wall = truth_clock(CLOCK_MONOTONIC), start = truth_clock(CLOCK_THREAD_CPUTIME_ID), now = start;
  while (now < start + us * 1000LL) {
    long long wall_now = truth_clock(CLOCK_MONOTONIC), before = now;
    now = truth_clock(CLOCK_THREAD_CPUTIME_ID);
    long long lost = wall_now - wall - (now - before);
    if (lost > 50000) {
      /* Time is gone that the thread did not use: stolen, if it has not left the CPU. */
      long switches_now = truth_switches();
      if (switches_now == switches) __atomic_fetch_add(&truth_stolen, lost, __ATOMIC_RELAXED);
      switches = switches_now;
    }
    wall = wall_now;
  }
  __atomic_fetch_add(&truth_spun, now - start, __ATOMIC_RELAXED);
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
