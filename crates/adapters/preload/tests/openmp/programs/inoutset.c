/* Tasks of one set are in no order, and everything is one address to omp_all_memory. */
#include <stdio.h>

int main(void) {
    int x = 0, y = 0;
#pragma omp parallel /* @region */
#pragma omp single
    {
#pragma omp task depend(in : x) /* @a */
        {
        }
#pragma omp task depend(inoutset : x) shared(x) /* @m */
        {
#pragma omp atomic
            x += 2;
        }
#pragma omp task depend(inoutset : x) shared(x) /* @n */
        {
#pragma omp atomic
            x += 4;
        }
#pragma omp task depend(out : y) shared(y) /* @b */
        y = 1;
#pragma omp task depend(out : omp_all_memory) shared(x, y) /* @all */
        x += y;
#pragma omp task depend(in : x) shared(x) /* @z */
        printf("%d\n", x);
    }
    return 0;
}
