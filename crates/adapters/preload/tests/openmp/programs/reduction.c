/* Reductions: of a region, of a loop, and of the tasks of a group. */
#include <stdio.h>

int main(void) {
    int region = 0, loop = 0, tasks = 0;
#pragma omp parallel reduction(+ : region) /* @region */
    region += 1;
#pragma omp parallel for schedule(dynamic, 4) reduction(+ : loop) /* @loop */
    for (int i = 0; i < 16; i++)
        loop += i;
#pragma omp parallel /* @group */
#pragma omp single
    {
#pragma omp taskgroup task_reduction(+ : tasks)
        {
            for (int i = 0; i < 3; i++) {
#pragma omp task in_reduction(+ : tasks) firstprivate(i) /* @task */
                tasks += i + 1;
            }
        }
        printf("%d %d %d\n", region > 0, loop, tasks);
    }
    return 0;
}
