/* Loops shared by a team, by all schedules. */
#include <stdio.h>

static int a[24], b[24];

int main(void) {
#pragma omp parallel for schedule(static) /* @even */
    for (int i = 0; i < 24; i++)
        a[i] += i;
#pragma omp parallel for schedule(static, 3) /* @static */
    for (int i = 0; i < 24; i++)
        a[i] += i;
#pragma omp parallel for schedule(dynamic, 2) /* @dynamic */
    for (int i = 0; i < 24; i++)
        a[i] += i;
#pragma omp parallel for schedule(guided) /* @some-guided */
    for (int i = 0; i < 24; i++)
        a[i] += i;
#pragma omp parallel for schedule(runtime) /* @runtime */
    for (int i = 0; i < 24; i++)
        a[i] += i;
#pragma omp parallel /* @region */
    {
#pragma omp for schedule(dynamic, 8) nowait /* @first */
        for (int i = 0; i < 24; i++)
            a[i] += i;
#pragma omp for schedule(dynamic, 6) /* @second */
        for (int i = 23; i >= 0; i--)
            b[i] += 1;
#pragma omp for schedule(dynamic, 12) /* @third */
        for (int i = 0; i < 24; i++) {
            if (i % 12 == 0) {
#pragma omp task /* @task */
                a[i] += 100;
            }
        }
    }
    int sum = 0;
    for (int i = 0; i < 24; i++)
        sum += a[i] + b[i];
    printf("%d\n", sum);
    return 0;
}
