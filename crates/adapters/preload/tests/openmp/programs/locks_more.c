/* Locks of all kinds, and critical sections with and without a name, that nobody holds for long. */
#include <omp.h>
#include <stdio.h>

int main(void) {
    omp_lock_t lock;
    omp_nest_lock_t nest;
    int sum = 0;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
#pragma omp parallel /* @region */
    {
#pragma omp for schedule(dynamic, 4) /* @loop */
        for (int i = 0; i < 64; i++) {
            omp_set_lock(&lock);
            sum += 1;
            omp_unset_lock(&lock);
            omp_set_nest_lock(&nest);
            omp_set_nest_lock(&nest);
            sum += 0;
            omp_unset_nest_lock(&nest);
            omp_unset_nest_lock(&nest);
#pragma omp critical(name)
            sum += 0;
            if (omp_test_lock(&lock)) omp_unset_lock(&lock);
        }
    }
    omp_destroy_lock(&lock);
    omp_destroy_nest_lock(&nest);
    printf("%d\n", sum > 0);
    return 0;
}
