/* A task group in an untied task, which may go on on another thread inside of it. */
#include <stdio.h>

static volatile int sink;

static void spin(void) {
    for (int i = 0; i < 20000; i++) sink = i;
}

int main(void) {
    int done = 0;
#pragma omp parallel /* @region */
#pragma omp single
    for (int i = 0; i < 20; i++) {
#pragma omp task untied shared(done) /* @untied */
        {
#pragma omp taskgroup
            {
#pragma omp task shared(done) /* @inside */
                {
                    spin();
#pragma omp atomic
                    done += 1;
                }
#pragma omp taskyield
                spin();
            }
#pragma omp task shared(done) /* @behind */
            {
#pragma omp atomic
                done += 1;
            }
        }
    }
    printf("%d\n", done);
    return 0;
}
