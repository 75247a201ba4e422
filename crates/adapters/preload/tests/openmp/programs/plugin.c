/* A library that brings OpenMP along, loaded by a program that has none (plugin_host.c), for itself alone. */
int plugin(int count);

int plugin(int count) {
    int sum = 0;
#pragma omp parallel /* @region */
#pragma omp single
    {
#pragma omp taskloop num_tasks(4) shared(sum) /* @loop */
        for (int i = 0; i < count; i++) {
#pragma omp atomic
            sum += 1;
        }
#pragma omp task if (0) shared(sum) /* @at-once */
        {
#pragma omp atomic
            sum += 1;
        }
    }
    return sum;
}
