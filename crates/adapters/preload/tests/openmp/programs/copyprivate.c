/* What one thread of a team found out is copied to the others. */
#include <stdio.h>

int main(void) {
    int sum = 0;
#pragma omp parallel shared(sum) /* @region */
    {
        int mine = 0;
#pragma omp single copyprivate(mine)
        {
#pragma omp task shared(mine) /* @task */
            mine = 7;
#pragma omp taskwait
        }
#pragma omp critical
        sum = sum > 0 ? sum : mine;
    }
    printf("%d\n", sum);
    return 0;
}
