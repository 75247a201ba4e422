/* Loops cut into tasks: by number, by size, without a group, with a reduction. */
#include <stdio.h>

int main(void) {
    int a[16] = {0}, sum = 0;
#pragma omp parallel /* @region */
#pragma omp single
    {
#pragma omp taskloop num_tasks(4) shared(a) /* @number */
        for (int i = 0; i < 16; i++)
            a[i] += i;
#pragma omp taskloop grainsize(5) shared(a) /* @size */
        for (int i = 0; i < 16; i++)
            a[i] += 1;
#pragma omp taskloop num_tasks(2) nogroup shared(a) /* @nogroup */
        for (int i = 0; i < 16; i++)
            a[i] += 2;
#pragma omp taskwait
#pragma omp taskloop num_tasks(4) reduction(+ : sum) shared(a) /* @reduction */
        for (int i = 0; i < 16; i++)
            sum += a[i];
        printf("%d\n", sum);
    }
    return 0;
}
