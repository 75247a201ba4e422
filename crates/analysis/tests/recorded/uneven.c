/* A triangle: row i costs i. "static" gives each thread one block of rows, "dynamic" one row at a time. */
#include <stdio.h>
#include <string.h>

enum { ROWS = 120 };
static double rows[ROWS];

static double row(int length) {
    double x = length;
    for (int i = 0; i < length * 1500; i++)
        x = x * 0.999999 + 0.5;
    return x;
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "dynamic") == 0) {
#pragma omp parallel for schedule(dynamic, 1)
        for (int i = 0; i < ROWS; i++)
            rows[i] = row(i);
    } else {
#pragma omp parallel for schedule(static)
        for (int i = 0; i < ROWS; i++)
            rows[i] = row(i);
    }
    double sum = 0;
    for (int i = 0; i < ROWS; i++)
        sum += rows[i];
    printf("%.3f\n", sum);
    return 0;
}
