/* A region that is all of another one: its call is the last thing its function does, and returns into the runtime. */
#include <stdio.h>

int main(void) {
    int sum = 0;
#pragma omp parallel num_threads(2) /* @outer */
#pragma omp parallel num_threads(2) shared(sum) /* @inner */
    {
#pragma omp atomic
        sum += 1;
    }
    printf("%d\n", sum > 0);
    return 0;
}
