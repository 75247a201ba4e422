/* A loop that is given up, and a region. */
#include <stdio.h>

int main(void) {
    int found = 0, after = 0;
#pragma omp parallel /* @region */
    {
#pragma omp for schedule(dynamic, 1) /* @some-chunks */
        for (int i = 0; i < 100; i++) {
            if (i == 3) {
#pragma omp atomic write
                found = i;
#pragma omp cancel for
            }
#pragma omp cancellation point for
        }
#pragma omp single
        {
#pragma omp task shared(after) /* @task */
            after = 1;
        }
    }
#pragma omp parallel /* @given-up */
    {
#pragma omp cancel parallel
    }
    printf("%d %d\n", found, after);
    return 0;
}
