/* Barriers, told and implied, cut a region into phases; tasks belong to the phase that creates them. */
#include <stdio.h>

int main(void) {
    int sum = 0;
#pragma omp parallel /* @region */
    {
#pragma omp task shared(sum) /* @a */
        {
#pragma omp atomic
            sum += 1;
        }
#pragma omp barrier
#pragma omp single nowait
        {
#pragma omp task shared(sum) /* @b */
            {
#pragma omp atomic
                sum += 1000;
            }
        }
#pragma omp barrier
#pragma omp single
        {
#pragma omp task shared(sum) /* @c */
            {
#pragma omp atomic
                sum += 10000;
            }
        }
#pragma omp master
        {
#pragma omp task shared(sum) /* @d */
            {
#pragma omp atomic
                sum += 100000;
            }
        }
    }
    printf("%d\n", sum / 1000);
    return 0;
}
