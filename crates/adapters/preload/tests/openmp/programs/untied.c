/* An untied task of several parts, which may go on on any thread. */
#include <stdio.h>

int main(void) {
    int x = 0, y = 0;
#pragma omp parallel /* @region */
#pragma omp single
    {
#pragma omp task untied shared(x, y) /* @u */
        {
#pragma omp task shared(x) /* @v */
            x = 1;
#pragma omp taskyield
#pragma omp taskwait
#pragma omp task shared(y) /* @w */
            y = 2;
#pragma omp taskwait
            x += y;
        }
    }
    printf("%d\n", x);
    return 0;
}
