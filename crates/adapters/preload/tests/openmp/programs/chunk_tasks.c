/* What the chunks of a loop create are children of the task that ran the chunks: its taskwait waits for them. */
#include <stdio.h>

int main(void) {
    int sum = 0;
#pragma omp parallel num_threads(1) /* @region */
    {
#pragma omp for schedule(dynamic, 1) nowait /* @loop */
        for (int i = 0; i < 2; i++) {
#pragma omp task shared(sum) depend(inout : sum) /* @a */
            sum += 1;
        }
#pragma omp task shared(sum) depend(inout : sum) /* @b */
        sum *= 10;
#pragma omp taskwait
        printf("%d\n", sum);
    }
    return 0;
}
