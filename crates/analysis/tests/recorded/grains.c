/* Sums squares: a task for every GRAIN numbers. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    enum { NUMBERS = 240 };
    int grain = argc > 1 ? atoi(argv[1]) : 1, rounds = 60;
    static double sums[NUMBERS];
    /* The threads are there before it begins. */
#pragma omp parallel
    sums[0] = 0;
#pragma omp parallel
#pragma omp single
    for (int from = 0; from < NUMBERS; from += grain)
#pragma omp task
        for (int i = from; i < from + grain && i < NUMBERS; i++)
            for (int k = 0; k < rounds; k++)
                sums[i] = sums[i] * 0.999999 + i;
    double sum = 0;
    for (int i = 0; i < NUMBERS; i++)
        sum += sums[i];
    printf("%.3f\n", sum);
    return 0;
}
