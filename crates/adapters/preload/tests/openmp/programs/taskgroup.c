/* A taskgroup waits for its tasks' children too. */
#include <stdio.h>

int main(void) {
    int x = 0;
#pragma omp parallel /* @region */
#pragma omp single
    {
#pragma omp taskgroup
        {
#pragma omp task shared(x) /* @a */
            {
#pragma omp task shared(x) /* @b */
                {
#pragma omp atomic
                    x += 1;
                }
            }
#pragma omp taskgroup
            {
#pragma omp task shared(x) /* @c */
                {
#pragma omp atomic
                    x += 2;
                }
            }
        }
        printf("%d\n", x);
#pragma omp task shared(x) /* @d */
        x += 4;
#pragma omp taskwait
        printf("%d\n", x);
    }
    return 0;
}
