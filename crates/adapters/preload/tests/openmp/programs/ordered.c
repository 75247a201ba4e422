/* A loop with an ordered part. */
#include <stdio.h>

int main(void) {
#pragma omp parallel /* @region */
#pragma omp for ordered schedule(dynamic, 1) /* @loop */
    for (int i = 0; i < 6; i++) {
#pragma omp ordered
        printf("%d\n", i);
    }
    return 0;
}
