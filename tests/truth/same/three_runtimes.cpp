/* libgomp, a libomp that is loaded later, and oneTBB, all at work at the same time in one process.
 * needs: echo '#include <oneapi/tbb.h>' | g++ -fsyntax-only -x c++ - && $CLANG -fopenmp -shared -fPIC -x c /dev/null -o empty.so
 * build: $CLANG -g -O1 -fopenmp -fPIC -DPLUGIN -shared -x c $SOURCE -Wl,-rpath,"$(dirname "$LIBOMP")" -o three_llvm.so
 * build: g++ -g -O1 -fopenmp $SOURCE -o $PROGRAM -ltbb -ldl -lpthread
 * run: $RECORD $PROGRAM
 */
#ifdef PLUGIN
long tree(int depth);
long tree(int depth) {
  if (depth == 0) return 1;
  long left, right;
#pragma omp task shared(left)
  left = tree(depth - 1);
#pragma omp task shared(right)
  right = tree(depth - 1);
#pragma omp taskwait
  return left + right;
}
long leaves(int depth);
long leaves(int depth) {
  long sum = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
  sum = tree(depth);
  return sum;
}
#else
#include <atomic>
#include <cstdio>
#include <dlfcn.h>
#include <oneapi/tbb.h>
#include <thread>
int main() {
  void *plugin = dlopen("./three_llvm.so", RTLD_NOW | RTLD_LOCAL);
  if (!plugin) { std::puts(dlerror()); return 1; }
  auto leaves = (long (*)(int))dlsym(plugin, "leaves");
  std::atomic<long> llvm{0}, tbb_sum{0};
  long gnu = 0;
  std::thread one([&] { for (int i = 0; i < 20; i++) llvm += leaves(6); });
  std::thread two([&] {
    for (int i = 0; i < 20; i++) tbb::parallel_for(0, 200, [&](int k) { tbb_sum += k; });
  });
  for (int i = 0; i < 40; i++) {
#pragma omp parallel for num_threads(3) reduction(+: gnu) schedule(dynamic, 5)
    for (int k = 0; k < 300; k++) gnu += k;
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int k = 0; k < 20; k++) {
#pragma omp task shared(gnu)
      {
#pragma omp atomic
        gnu++;
      }
    }
  }
  one.join();
  two.join();
  std::printf("%ld %ld %ld\n", gnu, llvm.load(), tbb_sum.load());
}
#endif
