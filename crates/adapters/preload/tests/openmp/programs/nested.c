/* A region in every task of a region. */
#include <stdio.h>

int main(void) {
    int sum = 0;
#pragma omp parallel /* @outer */
    {
#pragma omp parallel num_threads(2) /* @inner */
        {
#pragma omp single
            {
#pragma omp task shared(sum) /* @task */
                {
#pragma omp atomic
                    sum += 1;
                }
            }
        }
        /* So that the inner region is no tail call, which has no return address of its own. */
#pragma omp atomic
        sum += 100;
    }
    printf("%d\n", sum > 0);
    return 0;
}
