// A loop of OpenMP in C++ whose rounds differ by a factor of hundreds: with schedule(static) instead of schedule(dynamic)
// the report shows the threads that got the dark rows waiting for those that got the bright ones.
#include <cstdio>
#include <cstdlib>
#include <vector>

static int escape(double x, double y) {
    double re = 0, im = 0;
    int steps = 0;
    while (steps < 2000 && re * re + im * im < 4) {
        const double next = re * re - im * im + x;
        im = 2 * re * im + y;
        re = next;
        steps++;
    }
    return steps;
}

int main(int argc, char **argv) {
    const int size = argc > 1 ? std::atoi(argv[1]) : 400;
    std::vector<long> rows(static_cast<std::size_t>(size));
#pragma omp parallel for schedule(dynamic, 4)
    for (int row = 0; row < size; row++)
        for (int column = 0; column < size; column++)
            rows[static_cast<std::size_t>(row)] += escape(3.0 * column / size - 2.2, 3.0 * row / size - 1.5);
    long steps = 0;
    for (const long row : rows)
        steps += row;
    std::printf("%ld steps\n", steps);
}
