/* The tree sum of the TaskProf paper (fig. 3) on a larger tree: the tree is built serially, then summed with a task at every
 * node above the grain; subtrees of depth GRAIN are summed serially. */
#include <memory>

#include "kernel.h"

struct Node {
    std::uint64_t value;
    std::unique_ptr<Node> left, right;
};

/* Node `i` has the children 2i and 2i + 1. */
static std::unique_ptr<Node> create_tree(long depth, std::uint64_t i) {
    std::unique_ptr<Node> node(new Node{kernel::mixed(i), nullptr, nullptr});
    if (depth > 0) {
        node->left = create_tree(depth - 1, 2 * i);
        node->right = create_tree(depth - 1, 2 * i + 1);
    }
    return node;
}

static std::uint64_t sum_serial(const Node &node) {
    return node.value + (node.left ? sum_serial(*node.left) + sum_serial(*node.right) : 0);
}

static std::uint64_t sum(const Node &node, long depth, long grain) {
    if (depth <= grain || !node.left)
        return sum_serial(node);
    std::uint64_t left = 0;
    TP_TASKS(halves);
    TP_CREATE(halves, [&left, &node, depth, grain] { left = sum(*node.left, depth - 1, grain); });
    const std::uint64_t right = sum(*node.right, depth - 1, grain);
    TP_WAIT(halves);
    return node.value + left + right;
}

int main(int count, char **words) {
    const kernel::Arguments arguments(count, words, "treesum [DEPTH=20] [GRAIN=10]");
    const long depth = arguments.number(0, 20, 0, 28), grain = arguments.number(1, 10, 0, 28);
    const std::unique_ptr<Node> tree = create_tree(depth, 1);
    std::uint64_t found = 0, expected = 0;
    TP_RUN(arguments.workers(), [&] { kernel::timed(arguments, [&] { found = sum(*tree, depth, grain); }); });
    const std::uint64_t nodes = (std::uint64_t(1) << (depth + 1)) - 1;
    for (std::uint64_t i = 1; i <= nodes; i++)
        expected += kernel::mixed(i);
    std::printf("sum of %llu nodes: %llu\n", static_cast<unsigned long long>(nodes), static_cast<unsigned long long>(found));
    return kernel::finish(found == expected);
}
