/* A league on the host: its regions are regions. */
#include <stdio.h>

int main(void) {
    int sum = 0;
#pragma omp teams num_teams(2) thread_limit(2) reduction(+ : sum)
    {
#pragma omp parallel num_threads(2) reduction(+ : sum)
        sum += 1;
    }
#pragma omp parallel /* @after */
#pragma omp single
    {
#pragma omp task shared(sum) /* @task */
        sum += 0;
    }
    printf("%d\n", sum > 0);
    return 0;
}
