/* oneTBB of the number of threads that the harness asked for. */
#include <atomic>
#include <oneapi/tbb.h>
#include "truth.h"
struct Threads {
  tbb::global_control control{tbb::global_control::max_allowed_parallelism, (size_t)threads()};
};
