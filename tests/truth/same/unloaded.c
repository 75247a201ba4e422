/* Plugins loaded, used and unloaded in turn, so that one may come to lie where the other was. The program keeps libgomp, whose
 * threads outlive a region.
 * build: gcc -g -O1 -Wl,--no-as-needed -fopenmp $SOURCE -o $PROGRAM -ldl
 * build: gcc -g -O1 -fopenmp -fPIC -DPLUGIN=1 -shared $SOURCE -o unloaded_a.so
 * build: gcc -g -O1 -fopenmp -fPIC -DPLUGIN=2 -shared $SOURCE -o unloaded_b.so
 * run: $RECORD $PROGRAM
 */
#ifdef PLUGIN
long work(long n) {
  long sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  for (long i = 0; i < n; i++) {
#pragma omp task shared(sum)
    {
#pragma omp atomic
      sum += i * PLUGIN;
    }
  }
  return sum;
}
#else
#include <dlfcn.h>
#include <stdio.h>
int main(void) {
  const char *names[] = {"./unloaded_a.so", "./unloaded_b.so"};
  for (int i = 0; i < 20; i++) {
    void *plugin = dlopen(names[i % 2], RTLD_NOW);
    if (!plugin) { puts(dlerror()); return 1; }
    long (*work)(long) = (long (*)(long))dlsym(plugin, "work");
    printf("%ld\n", work(100 + i));
    dlclose(plugin);
  }
  return 0;
}
#endif
