// Tasks that throw and catch, objects copied into them and cancelled groups: all are destroyed, as often as they were made.
#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <vector>

static std::atomic<int> live{0}, caught{0}, ran{0};

struct counted {
    std::vector<int> values;
    counted() : values(3, 1) { live++; }
    counted(const counted &other) : values(other.values) { live++; }
    ~counted() { live--; }
};

int main() {
    {
        counted object;
#pragma omp parallel
#pragma omp single
        for (int i = 0; i < 100; i++) {
#pragma omp task firstprivate(object)
            try {
                if (i % 2)
                    throw std::runtime_error("odd");
                ran += object.values.size();
            } catch (const std::exception &) {
                caught++;
            }
        }
#pragma omp parallel
        {
#pragma omp for schedule(dynamic)
            for (int i = 0; i < 100; i++) {
                if (i == 10) {
#pragma omp cancel for
                }
            }
#pragma omp single
#pragma omp taskgroup
            for (int i = 0; i < 50; i++) {
#pragma omp task firstprivate(object)
                {
#pragma omp cancel taskgroup
                }
            }
#pragma omp cancel parallel
#pragma omp barrier
        }
    }
    std::printf("%d %d %d\n", live.load(), caught.load(), ran.load());
    return 0;
}
