/* Tasks that run at once: if(0), and what a final task creates. Mergeable ones are as others. */
#include <omp.h>
#include <stdio.h>

int main(void) {
    int a = 0, b = 0, c = 0, d = 0;
#pragma omp parallel /* @region */
#pragma omp single
    {
#pragma omp task if (0) shared(a) /* @a */
        a = 1;
#pragma omp task final(1) shared(b, c) /* @b */
        {
#pragma omp task shared(c) /* @c */
            c = omp_in_final();
            b = c + 1;
        }
#pragma omp task mergeable shared(d) /* @d */
        d = 4;
#pragma omp taskwait
        printf("%d %d %d %d\n", a, b, c, d);
    }
    return 0;
}
