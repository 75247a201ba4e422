/* Tasks of a loop's chunks are children of the thread's implicit task: its taskwait, after the loop, is for them. */
#include <stdio.h>

int main(void) {
    int done = 0, late = 0;
#pragma omp parallel /* @region */
    {
#pragma omp for schedule(static, 1) nowait /* @loop */
        for (int i = 0; i < 8; i++) {
#pragma omp task shared(done) /* @task */
            {
#pragma omp atomic
                done += 1;
            }
        }
#pragma omp taskwait
#pragma omp task shared(late) /* @after */
        {
#pragma omp atomic
            late += 1;
        }
#pragma omp taskwait
    }
    printf("%d %d\n", done, late > 0);
    return 0;
}
