/* A task that lets others run. */
#include <stdio.h>

int main(void) {
    int x = 0, y = 0;
#pragma omp parallel /* @region */
#pragma omp single
    {
#pragma omp task shared(x) /* @a */
        {
            x = 1;
#pragma omp taskyield
            x += 1;
        }
#pragma omp task shared(y) /* @b */
        y = 1;
#pragma omp taskyield
#pragma omp taskwait
        printf("%d %d\n", x, y);
    }
    return 0;
}
