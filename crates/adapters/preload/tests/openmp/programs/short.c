/* Many very short tasks, in the way that the argument says; prints what they computed, and how many tasks there were. */
#include <stdio.h>
#include <string.h>

static long tasks, critical;

static void count(void) {
#pragma omp atomic
    tasks++;
}

static int fib(int n) {
    int a, b;
    if (n < 2) return n;
#pragma omp task shared(a)
    count(), a = fib(n - 1);
#pragma omp task shared(b)
    count(), b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

static long queens(int n, int row, unsigned columns, unsigned left, unsigned right) {
    long found[16] = {0}, all = 0;
    if (row == n) return 1;
    for (int i = 0; i < n; i++) {
        unsigned at = 1u << i;
        if ((columns | left | right) & at) continue;
#pragma omp task shared(found)
        count(), found[i] = queens(n, row + 1, columns | at, (left | at) << 1, (right | at) >> 1);
    }
#pragma omp taskwait
    for (int i = 0; i < n; i++) all += found[i];
    return all;
}

/* A group in which the second level does not wait. */
static void grow(int depth, int waits, long *leaves) {
    if (depth == 0) {
#pragma omp atomic
        ++*leaves;
        return;
    }
    if (waits) {
#pragma omp taskgroup
        for (int i = 0; i < 3; i++)
#pragma omp task
            count(), grow(depth - 1, !waits, leaves);
    } else {
        for (int i = 0; i < 3; i++)
#pragma omp task
            count(), grow(depth - 1, !waits, leaves);
    }
}

/* Nobody waits but the end of the region. */
static void scatter(int depth, long *leaves) {
    for (int i = 0; i < 2 && depth > 0; i++)
#pragma omp task
        count(), scatter(depth - 1, leaves);
    if (depth == 0)
#pragma omp atomic
        ++*leaves;
}

static int chain(int n) {
    int a = 0, b = 0;
    if (n < 2) return n;
#pragma omp task shared(a) depend(out : a)
    count(), a = chain(n - 1);
#pragma omp task shared(a, b) depend(in : a) depend(out : b)
    count(), b = a + chain(n - 2);
#pragma omp taskwait
    return b;
}

static long loops(int depth) {
    long sum = 0;
    if (depth == 0) return 1;
#pragma omp taskloop num_tasks(2) reduction(+ : sum)
    for (int i = 0; i < 4; i++) sum += i & 1 ? 0 : loops(depth - 1);
    return sum;
}

static int odd;

/* All that is more than tasks and waits, here and there, once `odd` is set. */
static long mixed(int n) {
    long a = 0, b = 0;
    if (n < 2) return n;
#pragma omp task shared(a) if (n % 7 != 3) final(n == 5) priority(n)
    count(), a = mixed(n - 1);
#pragma omp task shared(b) untied
    count(), b = mixed(n - 2);
    if (odd && n == 9) {
#pragma omp critical
        critical++;
    }
    if (odd && n == 12) {
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp task
        count();
    }
    if (odd && n == 11) {
        long late = 0;
#pragma omp task shared(late) depend(out : late)
        count(), late = fib(6);
#pragma omp taskwait depend(in : late)
#pragma omp critical
        critical += late;
    }
#pragma omp taskyield
#pragma omp taskwait
    return a + b;
}

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "fib";
    long result = 0;
#pragma omp parallel
#pragma omp single
    {
        if (!strcmp(way, "fib")) result = fib(22);
        if (!strcmp(way, "queens")) result = queens(8, 0, 0, 0, 0);
        if (!strcmp(way, "group")) grow(9, 1, &result);
        if (!strcmp(way, "scatter")) scatter(14, &result);
        if (!strcmp(way, "chain")) result = chain(18);
        if (!strcmp(way, "loops")) result = loops(8);
        if (!strcmp(way, "mixed")) {
            result = mixed(16);
            odd = 1;
            result += mixed(18);
        }
    }
    printf("%ld %ld %ld\n", result, critical, tasks);
    return 0;
}
