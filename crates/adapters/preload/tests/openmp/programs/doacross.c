/* A loop whose iterations wait for the one before. */
#include <stdio.h>

static int a[9];

int main(void) {
#pragma omp parallel /* @region */
#pragma omp for ordered(1) schedule(dynamic, 2) /* @loop */
    for (int i = 1; i < 9; i++) {
#pragma omp ordered depend(sink : i - 1)
        a[i] = a[i - 1] + i;
#pragma omp ordered depend(source)
    }
    printf("%d\n", a[8]);
    return 0;
}
