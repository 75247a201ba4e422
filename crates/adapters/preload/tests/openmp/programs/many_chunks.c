/* A taskloop of many more tasks than threads: libomp creates a part of them from tasks of its own, on any thread. */
#include <stdio.h>

int main(void) {
    int sum = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskloop num_tasks(200) shared(sum) /* @one */
        for (int i = 0; i < 200; i++) {
#pragma omp atomic
            sum += 1;
        }
#pragma omp taskloop num_tasks(200) shared(sum) /* @other */
        for (int i = 0; i < 200; i++) {
#pragma omp atomic
            sum += 1;
        }
    }
    printf("%d\n", sum);
    return 0;
}
