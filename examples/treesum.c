/* OpenMP tasks in C: the sum of a tree, a task at every node above the grain. */
#include <stdio.h>
#include <stdlib.h>

struct node {
    long value;
    struct node *left, *right;
};

static struct node *create(int depth, long value) {
    struct node *node = malloc(sizeof *node);
    if (node == NULL)
        exit(1);
    node->value = value;
    node->left = depth > 0 ? create(depth - 1, 2 * value) : NULL;
    node->right = depth > 0 ? create(depth - 1, 2 * value + 1) : NULL;
    return node;
}

static long sum(const struct node *node, int depth) {
    long left = 0, right = 0;
    if (node == NULL)
        return 0;
    if (depth <= 8)
        return node->value + sum(node->left, depth - 1) + sum(node->right, depth - 1);
#pragma omp task shared(left)
    left = sum(node->left, depth - 1);
#pragma omp task shared(right)
    right = sum(node->right, depth - 1);
#pragma omp taskwait
    return node->value + left + right;
}

int main(int argc, char **argv) {
    int depth = argc > 1 ? atoi(argv[1]) : 18;
    struct node *tree = create(depth, 1);
    long total = 0;
#pragma omp parallel
#pragma omp single
    total = sum(tree, depth);
    printf("sum %ld\n", total);
    return 0;
}
