/* Constructs outside of a region: a loop, sections, single, a barrier, a taskgroup, a taskloop. */
#include <stdio.h>

int main(void) {
    int sum = 0;
#pragma omp for schedule(dynamic, 4) /* @some-loop */
    for (int i = 0; i < 8; i++)
        sum += i;
#pragma omp sections /* @some-sections */
    {
#pragma omp section
        sum += 1;
#pragma omp section
        sum += 2;
    }
#pragma omp single
    sum += 4;
#pragma omp barrier
#pragma omp taskgroup
    {
#pragma omp task shared(sum) /* @task */
        sum += 8;
    }
#pragma omp taskloop num_tasks(2) shared(sum) /* @taskloop */
    for (int i = 0; i < 4; i++)
        sum += i;
    printf("%d\n", sum);
    return 0;
}
