/* Chunks of a whole team create tasks, for which each thread then waits. Which thread has which is the schedule's. */
#include <stdio.h>

int main(void) {
    int sum = 0;
#pragma omp parallel /* @region */
    {
#pragma omp for schedule(dynamic, 1) nowait /* @loop */
        for (int i = 0; i < 12; i++) {
#pragma omp task shared(sum) /* @task */
            {
#pragma omp atomic
                sum += i;
            }
        }
#pragma omp taskwait
#pragma omp atomic
        sum += 0;
    }
    printf("%d\n", sum);
    return 0;
}
