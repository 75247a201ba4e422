// Tasks that take copies of objects with constructors and destructors along, deferred and run at once.
#include <cstdio>
#include <string>
#include <vector>

static int live = 0;

struct Counted {
    std::vector<int> values;
    explicit Counted(int n) : values(n, 1) { change(1); }
    Counted(const Counted &other) : values(other.values) { change(1); }
    ~Counted() { change(-1); }
    static void change(int by) {
#pragma omp atomic
        live += by;
    }
};

int main() {
    int sum = 0;
    {
        Counted counted(7);
        std::string text = "a text too long to be kept inside of its object";
#pragma omp parallel /* @region */
#pragma omp single
        {
            for (int i = 0; i < 3; i++) {
#pragma omp task firstprivate(counted, text) shared(sum) /* @task */
                {
#pragma omp atomic
                    sum += counted.values.size() + text.size();
                }
            }
#pragma omp task firstprivate(counted, text) shared(sum) if (false) /* @at-once */
            {
#pragma omp atomic
                sum += counted.values.size() + text.size();
            }
        }
    }
    std::printf("%d %d\n", sum, live);
}
