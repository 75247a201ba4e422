/* Tasks, one nested in another, and waits for children. */
#include <stdio.h>

int main(void) {
    int x = 0, y = 0;
#pragma omp parallel /* @region */
#pragma omp single
    {
#pragma omp task shared(x) /* @a */
        {
#pragma omp task shared(x) /* @b */
            x = 1;
#pragma omp taskwait
            x += 1;
        }
#pragma omp task shared(y) /* @c */
        y = 3;
#pragma omp taskwait
        printf("%d %d\n", x, y);
    }
    return 0;
}
