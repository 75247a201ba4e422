/* Many regions of different sizes, one after the other, and one that a clause makes serial. */
#include <stdio.h>

int main(void) {
    int sum = 0, tasks = 0;
    for (int i = 0; i < 20; i++) {
#pragma omp parallel reduction(+ : sum) /* @many */
        sum += 1;
    }
#pragma omp parallel num_threads(3) reduction(+ : sum) /* @three */
    sum += 1;
#pragma omp parallel if (0) reduction(+ : sum) /* @serial */
    sum += 1;
#pragma omp parallel num_threads(2) reduction(+ : sum) /* @two */
    {
#pragma omp task shared(tasks) /* @task */
        {
#pragma omp atomic
            tasks += 1;
        }
        sum += 1;
    }
    printf("%d %d\n", sum > 0, tasks > 0);
    return 0;
}
