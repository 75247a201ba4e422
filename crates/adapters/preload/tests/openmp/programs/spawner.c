/* One task spawns all the others, far more than libgomp keeps. */
#include <stdio.h>

int main(void) {
    int sum = 0;
#pragma omp parallel /* @region */
#pragma omp single
    {
        for (int i = 0; i < 2000; i++) {
#pragma omp task shared(sum) firstprivate(i) /* @task */
            {
#pragma omp atomic
                sum += i;
            }
        }
    }
    printf("%d\n", sum);
    return 0;
}
