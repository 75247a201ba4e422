/* Plugins that were linked with different OpenMP libraries, loaded into one process as an interpreter loads its extensions:
 * the sums are right however many there are and in whatever order they come.
 * needs: gcc -fopenmp -shared -fPIC -x c /dev/null -o empty.so && $CLANG -fopenmp -shared -fPIC -x c /dev/null -o empty.so
 * build: gcc -g -O1 $SOURCE -o $PROGRAM -ldl
 * build: gcc -g -O1 -fopenmp -fPIC -DPLUGIN -c $SOURCE -o two.o && gcc -shared -fopenmp two.o -o two_gnu.so
 * build: sed 's/libgomp[.]so[.]1/libgomp.so.9/g' "$(gcc -print-file-name=libgomp.so.1)" > libgomp.so.9
 * build: gcc -shared two.o ./libgomp.so.9 -Wl,-rpath,"$PWD" -o two_copy.so
 * build: gcc -shared two.o "$LIBOMP" -Wl,-rpath,"$(dirname "$LIBOMP")" -o two_llvm.so
 * build: $CLANG -g -O1 -fopenmp -fPIC -DPLUGIN -shared $SOURCE -Wl,-rpath,"$(dirname "$LIBOMP")" -o two_clang.so
 * run: $RECORD $PROGRAM ./two_gnu.so ./two_copy.so
 * run: $RECORD $PROGRAM ./two_copy.so ./two_gnu.so ./two_copy.so
 * run: $RECORD $PROGRAM ./two_llvm.so
 * run: $RECORD $PROGRAM ./two_gnu.so ./two_llvm.so ./two_copy.so ./two_clang.so
 * run: $RECORD $PROGRAM ./two_clang.so ./two_llvm.so ./two_gnu.so
 */
#ifdef PLUGIN
int sum_to(int n) {
  int sum = 0, tasks = 0;
#pragma omp parallel for reduction(+: sum) num_threads(2)
  for (int i = 0; i < n; i++) sum += i;
#pragma omp parallel num_threads(3)
#pragma omp single
  for (int i = 0; i < 50; i++) {
#pragma omp task shared(tasks)
    {
#pragma omp atomic
      tasks++;
    }
  }
#pragma omp parallel for schedule(dynamic, 7) reduction(+: sum) num_threads(2)
  for (int i = 0; i < n; i++) sum += i;
  return sum + tasks;
}
#else
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **names) {
  for (int round = 0; round < 3; round++)
    for (int i = 1; i < count; i++) {
      void *plugin = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
      if (!plugin) { puts(dlerror()); return 1; }
      int (*sum_to)(int) = (int (*)(int))dlsym(plugin, "sum_to");
      printf("%s %d\n", names[i], sum_to(1000));
      fflush(stdout);
    }
  return 0;
}
#endif
