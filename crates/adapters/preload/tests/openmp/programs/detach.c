/* Detached tasks: one whose event another task fulfils, one that does it itself. */
#include <omp.h>
#include <stdio.h>

int main(void) {
    int x = 0;
#pragma omp parallel /* @region */
#pragma omp single
    {
        omp_event_handle_t late, early;
#pragma omp task detach(late) shared(x) /* @late */
        {
#pragma omp atomic
            x += 1;
        }
#pragma omp task firstprivate(late) shared(x) /* @fulfil */
        {
#pragma omp atomic
            x += 2;
            omp_fulfill_event(late);
        }
#pragma omp taskwait
#pragma omp task detach(early) shared(x) /* @early */
        {
            x += 4;
            omp_fulfill_event(early);
        }
#pragma omp taskwait
        printf("%d\n", x);
    }
    return 0;
}
