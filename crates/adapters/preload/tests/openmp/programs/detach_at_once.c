/* Detached tasks that their creator waits for at once: one whose event another thread fulfils, one that does it itself. */
#include <omp.h>
#include <stdio.h>

static omp_event_handle_t event;
static int ready;

int main(void) {
    int sum = 0;
#pragma omp parallel /* @region */
#pragma omp single
    {
#pragma omp task /* @fulfil */
        {
            while (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE)) {
            }
            omp_fulfill_event(event);
        }
        omp_event_handle_t mine;
#pragma omp task detach(mine) if (0) shared(sum) /* @at-once */
        {
            sum += 1;
            event = mine;
            __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
        }
#pragma omp task detach(mine) if (0) shared(sum) /* @itself */
        {
            sum += 1;
            omp_fulfill_event(mine);
        }
#pragma omp taskwait
    }
    printf("%d\n", sum);
    return 0;
}
