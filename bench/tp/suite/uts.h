/* uts ROOT_CHILDREN CHILDREN MILLIONTHS SEED: counts the nodes of an unbalanced tree. A node's state is the SHA-1 of its
 * parent's state and its number; it has CHILDREN children with a probability of so many millionths. A task for each node. */
#ifndef SUITE_UTS_H
#define SUITE_UTS_H

#include "suite.h"

namespace uts {
using namespace suite;

typedef std::array<std::uint32_t, 5> State;

static std::uint32_t rotated(std::uint32_t x, int by) { return x << by | x >> (32 - by); }

/* SHA-1 (FIPS 180) of one short message of whole words. */
static State sha1(const std::uint32_t *message, int words) {
    std::uint32_t w[80] = {};
    std::copy(message, message + words, w);
    w[words] = 0x80000000u;
    w[15] = static_cast<std::uint32_t>(32 * words);
    for (int i = 16; i < 80; i++)
        w[i] = rotated(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    const State start = {{0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u, 0xc3d2e1f0u}};
    std::uint32_t a = start[0], b = start[1], c = start[2], d = start[3], e = start[4];
    for (int i = 0; i < 80; i++) {
        const std::uint32_t f = i < 20   ? ((b & c) | (~b & d)) + 0x5a827999u
                                : i < 40 ? (b ^ c ^ d) + 0x6ed9eba1u
                                : i < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdcu
                                         : (b ^ c ^ d) + 0xca62c1d6u;
        const std::uint32_t next = rotated(a, 5) + f + e + w[i];
        e = d;
        d = c;
        c = rotated(b, 30);
        b = a;
        a = next;
    }
    return {{start[0] + a, start[1] + b, start[2] + c, start[3] + d, start[4] + e}};
}

struct Tree {
    long root_children, children, millionths, seed;

    State root() const {
        const std::uint32_t message[5] = {0, 0, 0, 0, static_cast<std::uint32_t>(seed)};
        return sha1(message, 5);
    }
    static State child(const State &parent, long number) {
        const std::uint32_t message[6] = {parent[0], parent[1], parent[2],
                                          parent[3], parent[4], static_cast<std::uint32_t>(number)};
        return sha1(message, 6);
    }
    long children_of(const State &state) const {
        const double chance = static_cast<double>(state[4] & 0x7fffffffu) / 2147483648.0;
        return chance < static_cast<double>(millionths) / 1e6 ? children : 0;
    }
};

static u64 serial(const Tree &tree, const State &state, long children) {
    u64 nodes = 1;
    for (long i = 0; i < children; i++) {
        const State child = Tree::child(state, i);
        nodes += serial(tree, child, tree.children_of(child));
    }
    return nodes;
}

static u64 parallel(const Tree &tree, const State &state, long children) {
    if (children == 0)
        return 1;
    std::vector<u64> nodes(at(children));
    TP_TASKS(subtrees);
    for (long i = 0; i < children; i++) {
        const State child = Tree::child(state, i);
        u64 *out = &nodes[at(i)];
        const Tree *shared = &tree;
        TP_CREATE(subtrees, [=] { *out = parallel(*shared, child, shared->children_of(child)); });
    }
    TP_WAIT(subtrees);
    u64 all = 1;
    for (u64 n : nodes)
        all += n;
    return all;
}

/* Trees whose size others have published: T3 of the UTS benchmark, and BOTS's tiny input. */
static u64 known(const Tree &t) {
    if (t.root_children != 2000)
        return 0;
    if (t.children == 8 && t.millionths == 124875 && t.seed == 42)
        return 4112897;
    return t.children == 3 && t.millionths == 333332 && t.seed == 8 ? 30399116 : 0;
}

static bool run(const Arguments &arguments) {
    const Tree tree{arguments.number(0), arguments.number(1), arguments.number(2), arguments.number(3)};
    u64 nodes = 0;
    timed(arguments, [&] { nodes = parallel(tree, tree.root(), tree.root_children); });
    const u64 size = known(tree);
    bool correct = size == 0 || nodes == size;
    if (arguments.check())
        correct = correct && nodes == serial(tree, tree.root(), tree.root_children);
    return say(correct, "uts: %llu nodes", static_cast<unsigned long long>(nodes));
}

static const Program PROGRAM = {"uts", "[ROOT_CHILDREN] [CHILDREN] [MILLIONTHS] [SEED]", {{100, 8, 100000, 42}},
                                {{2000, 8, 124000, 42}}, {{2000, 3, 333332, 8}}, run};
} // namespace uts

#endif
