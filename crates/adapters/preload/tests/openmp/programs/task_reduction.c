/* A region whose tasks take part in its reduction. */
#include <stdio.h>

int main(void) {
    int sum = 0;
#pragma omp parallel reduction(task, + : sum) /* @region */
    {
#pragma omp single
        {
            for (int i = 0; i < 3; i++) {
#pragma omp task in_reduction(+ : sum) firstprivate(i) /* @task */
                sum += i + 1;
            }
        }
    }
    printf("%d\n", sum);
    return 0;
}
