/* The threads that wait for the one in the single construct run its tasks meanwhile. */
#include <stdio.h>
#include <unistd.h>

int main(void) {
    int sum = 0, right = 0;
#pragma omp parallel shared(sum, right) /* @region */
    {
        int copy = 0;
#pragma omp single copyprivate(copy)
        {
            for (int i = 0; i < 20; i++) {
#pragma omp task shared(sum) /* @task */
                {
                    usleep(200);
                    __atomic_fetch_add(&sum, 1, __ATOMIC_RELAXED);
                }
            }
            copy = 7;
        }
        __atomic_fetch_add(&right, copy == 7, __ATOMIC_RELAXED);
    }
    printf("%d %d\n", sum, right > 0);
    return 0;
}
