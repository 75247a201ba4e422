/* Dependences among siblings: readers between writers, and what another address does not order. */
#include <stdio.h>

int main(void) {
    int x = 0, y = 0, b = 0, c = 0;
#pragma omp parallel /* @region */
#pragma omp single
    {
#pragma omp task depend(out : x) shared(x) /* @a */
        x = 1;
#pragma omp task depend(in : x) shared(x, b) /* @b */
        b = x;
#pragma omp task depend(in : x) shared(x, c) /* @c */
        c = x + 1;
#pragma omp task depend(inout : x) shared(x) /* @d */
        x += 10;
#pragma omp task depend(out : y) shared(y) /* @e */
        y = 5;
#pragma omp task depend(in : x, y) shared(x, y) /* @f */
        printf("%d\n", x + y);
#pragma omp taskwait
        printf("%d %d\n", b, c);
    }
    return 0;
}
