/* Tasks down to the leaves. */
#include <stdio.h>

static int fib(int n) {
    int a, b;
    if (n < 2) return n;
#pragma omp task shared(a) /* @a */
    a = fib(n - 1);
#pragma omp task shared(b) /* @b */
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

int main(void) {
    int result = 0;
#pragma omp parallel /* @region */
#pragma omp single
    result = fib(18);
    printf("%d\n", result);
    return 0;
}
