/* Functions that end with a taskwait, which gcc calls by a jump: the return address is the caller's. */
#include <stdio.h>

static int sum;

__attribute__((noinline, optimize("O2"))) static void ends_with_it(void) {
    sum += 1; /* @ends_with_it */
#pragma omp taskwait
}

__attribute__((noinline)) static void called_inside(void) {
    sum += 1;
#pragma omp taskwait /* @called_inside */
    sum += 1;
}

int main(void) {
#pragma omp parallel
#pragma omp single
    {
        ends_with_it();
        called_inside();
    }
    sum += 1;
#pragma omp taskwait /* @main */
    printf("%d\n", sum);
    return 0;
}
