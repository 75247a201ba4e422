/* A thread of the program's own opens a region, and ends a detached task of another thread's. */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>

static omp_event_handle_t event;
static int ready;

static void *other(void *unused) {
    (void)unused;
    int sum = 0;
#pragma omp parallel num_threads(2) shared(sum) /* @theirs */
    {
#pragma omp single
        {
#pragma omp task shared(sum) /* @task */
            sum = 1;
        }
    }
    while (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE)) {
    }
    omp_fulfill_event(event);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, other, NULL);
#pragma omp parallel /* @ours */
    {
#pragma omp single
        {
            omp_event_handle_t mine;
#pragma omp task detach(mine) /* @detached */
            {
                event = mine;
                __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
            }
        }
    }
    pthread_join(thread, NULL);
    puts("ok");
    return 0;
}
