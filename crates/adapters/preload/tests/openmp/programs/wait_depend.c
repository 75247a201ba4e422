/* Waits for those children that a dependence names: a taskwait, and a task that runs at once. */
#include <stdio.h>

int main(void) {
    int x = 0, y = 0;
#pragma omp parallel /* @region */
#pragma omp single
    {
#pragma omp task depend(out : x) shared(x) /* @a */
        x = 1;
#pragma omp task depend(out : y) shared(y) /* @b */
        y = 2;
#pragma omp taskwait depend(in : x)
        printf("%d\n", x);
#pragma omp task if (0) depend(inout : y) shared(y) /* @c */
        y += 4;
        printf("%d\n", y);
#pragma omp task depend(in : x) shared(x) /* @d */
        x += 8;
#pragma omp taskwait
        printf("%d\n", x);
    }
    return 0;
}
