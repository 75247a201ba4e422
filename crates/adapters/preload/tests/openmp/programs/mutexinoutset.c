/* Tasks that exclude each other are in no order among themselves. */
#include <stdio.h>

int main(void) {
    int x = 0;
#pragma omp parallel /* @region */
#pragma omp single
    {
#pragma omp task depend(out : x) shared(x) /* @a */
        x = 1;
#pragma omp task depend(mutexinoutset : x) shared(x) /* @m */
        x += 2;
#pragma omp task depend(mutexinoutset : x) shared(x) /* @n */
        x += 4;
#pragma omp task depend(in : x) shared(x) /* @z */
        printf("%d\n", x);
    }
    return 0;
}
