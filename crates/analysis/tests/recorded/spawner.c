/* Records are read one after the other and worked on by tasks. With "split", tasks halve the range and read their own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORDS = 60 };
static double results[RECORDS];

static double spin(int rounds, double x) {
    for (int i = 0; i < rounds; i++)
        x = x * 0.999999 + 0.5;
    return x;
}

static void read_and_work(int from, int to) {
    if (to - from == 1) {
        results[from] = spin(20000, spin(60000, from));
        return;
    }
    int middle = from + (to - from) / 2;
#pragma omp task
    read_and_work(from, middle);
    read_and_work(middle, to);
#pragma omp taskwait
}

int main(int argc, char **argv) {
    int split = argc > 1 && strcmp(argv[1], "split") == 0;
#pragma omp parallel
#pragma omp single
    if (split)
        read_and_work(0, RECORDS);
    else
        for (int i = 0; i < RECORDS; i++) {
            double record = spin(60000, i);
#pragma omp task
            results[i] = spin(20000, record);
        }
    double sum = 0;
    for (int i = 0; i < RECORDS; i++)
        sum += results[i];
    printf("%.3f\n", sum);
    return 0;
}
