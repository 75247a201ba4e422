/* Sections, one of which creates a task. */
#include <stdio.h>

int main(void) {
    int x = 0, y = 0, z = 0;
#pragma omp parallel /* @region */
    {
#pragma omp sections /* @sections */
        {
#pragma omp section /* @one */
            x = 1;
#pragma omp section /* @two */
            {
#pragma omp task shared(y) /* @task */
                y = 2;
            }
#pragma omp section /* @three */
            z = 3;
        }
    }
    printf("%d %d %d\n", x, y, z);
    return 0;
}
