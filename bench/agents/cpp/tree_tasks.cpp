// Counts the nodes of a tree, a task a node.
#include <cstdio>

long count(int depth) {
  if (depth == 0) return 1;
  long left, right;
#pragma omp task shared(left)
  left = count(depth - 1);
#pragma omp task shared(right)
  right = count(depth - 1);
#pragma omp taskwait
  return left + right + 1;
}

int main() {
  long nodes;
#pragma omp parallel num_threads(2)
#pragma omp single
  nodes = count(18);
  std::printf("%ld\n", nodes);
}
