/* Tasks outside of a region run at once. */
#include <stdio.h>

int main(void) {
    int x = 0;
#pragma omp task shared(x) /* @a */
    x = 1;
#pragma omp taskwait
#pragma omp parallel num_threads(2) /* @region */
    {
#pragma omp atomic
        x += 2;
    }
#pragma omp task shared(x) /* @b */
    x += 8;
#pragma omp taskwait
    printf("%d\n", x);
    return 0;
}
