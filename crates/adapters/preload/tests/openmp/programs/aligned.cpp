// Tasks and loops of tasks with data that wants to be aligned, copied in by constructors, and copied out at the end.
#include <cstdint>
#include <cstdio>
#include <string>

struct alignas(64) Aligned {
    int value;
    std::string text;
    explicit Aligned(int v) : value(v), text("a text too long to be kept inside of its object") {}
    Aligned(const Aligned &other) = default;
    int check() const { return reinterpret_cast<std::uintptr_t>(this) % 64 == 0 ? value + int(text.size()) : -1000; }
};

int main() {
    int sum = 0, last = 0;
    Aligned data(5);
#pragma omp parallel /* @region */
#pragma omp single
    {
        for (int i = 0; i < 2; i++) {
#pragma omp task firstprivate(data) shared(sum) /* @task */
            {
#pragma omp atomic
                sum += data.check();
            }
        }
#pragma omp taskwait
#pragma omp taskloop num_tasks(4) firstprivate(data) lastprivate(last) shared(sum) /* @loop */
        for (int i = 0; i < 8; i++) {
            last = i;
#pragma omp atomic
            sum += data.check();
        }
#pragma omp taskloop num_tasks(2) firstprivate(data) shared(sum) if (sum < 0) /* @at-once */
        for (int i = 0; i < 4; i++) {
#pragma omp atomic
            sum += data.check();
        }
    }
    std::printf("%d %d\n", sum, last);
}
