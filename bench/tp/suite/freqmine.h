/* freqmine TRANSACTIONS ITEMS SUPPORT GRAIN: counts the sets of items that are in SUPPORT transactions or more. Loops over pieces of
 * the transactions: count the items; sort out the rare ones and rank the rest; list for each item its transactions; then one loop
 * over the items that mines what lies before each, serially and recursively: very uneven. */
#ifndef SUITE_FREQMINE_H
#define SUITE_FREQMINE_H

#include "suite.h"

namespace freqmine {
using namespace suite;

typedef std::vector<long> Items;
typedef std::vector<Items> Transactions;

static const long PIECE = 256;

/* Few items are in many transactions. */
static Items generated(long transaction, long items) {
    Items all;
    for (u64 k = 0; k < 4 + mixed(static_cast<u64>(transaction)) % 12; k++) {
        const double draw = unit(static_cast<u64>(transaction) * 32 + k);
        all.push_back(static_cast<long>(draw * draw * draw * static_cast<double>(items)));
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

/* Frequent sets that end in one of the items of `base`'s transactions; each transaction is sorted by rank. */
static long mined(const Transactions &base, long ranks, long support) {
    Items count(at(ranks));
    for (const Items &t : base)
        for (long item : t)
            count[at(item)]++;
    long sets = 0;
    for (long item = 0; item < ranks; item++) {
        if (count[at(item)] < support)
            continue;
        Transactions before;
        for (const Items &t : base) {
            const Items::const_iterator found = std::lower_bound(t.begin(), t.end(), item);
            if (found != t.end() && *found == item && found != t.begin())
                before.push_back(Items(t.begin(), found));
        }
        sets += 1 + mined(before, item, support);
    }
    return sets;
}

static Items added(Items a, const Items &b) {
    for (std::size_t i = 0; i < a.size(); i++)
        a[i] += b[i];
    return a;
}

static bool run(const Arguments &arguments) {
    const long n = arguments.number(0), items = std::max(arguments.number(1), 1l), support = std::max(arguments.number(2), 1l);
    Transactions given(at(n));
    for (long i = 0; i < n; i++)
        given[at(i)] = generated(i, items);
    Transactions ranked(at(n));
    std::vector<long> sets;
    const Transactions *in = &given;
    Transactions *out = &ranked;
    long ranks = 0;
    timed(arguments, [&] {
        Items counts(at(items));
        const auto count = [=](long a, long b) {
            Items found(at(items));
            for (long i = a; i < b; i++)
                for (long item : (*in)[at(i)])
                    found[at(item)]++;
            return found;
        };
        TP_PFOR_REDUCE(counts, 0, n, PIECE, count, added);
        /* Ranks: the most frequent first. */
        Items order, rank(at(items), -1);
        for (long i = 0; i < items; i++)
            if (counts[at(i)] >= support)
                order.push_back(i);
        const Items *all = &counts;
        std::sort(order.begin(), order.end(), [=](long a, long b) {
            return (*all)[at(a)] != (*all)[at(b)] ? (*all)[at(a)] > (*all)[at(b)] : a < b;
        });
        ranks = static_cast<long>(order.size());
        for (long i = 0; i < ranks; i++)
            rank[at(order[at(i)])] = i;
        const Items *to_rank = &rank;
        TP_PFOR(0, n, PIECE, [=](long a, long b) {
            for (long i = a; i < b; i++) {
                for (long item : (*in)[at(i)])
                    if ((*to_rank)[at(item)] >= 0)
                        (*out)[at(i)].push_back((*to_rank)[at(item)]);
                std::sort((*out)[at(i)].begin(), (*out)[at(i)].end());
            }
        });
        sets.assign(at(ranks), 0);
        std::vector<long> *result = &sets;
        TP_PFOR(0, ranks, arguments.number(3), [=](long a, long b) {
            for (long item = a; item < b; item++) {
                Transactions before;
                for (const Items &t : *out) {
                    const Items::const_iterator found = std::lower_bound(t.begin(), t.end(), item);
                    if (found != t.end() && *found == item && found != t.begin())
                        before.push_back(Items(t.begin(), found));
                }
                (*result)[at(item)] = 1 + mined(before, item, support);
            }
        });
    });
    long sum = 0;
    for (long s : sets)
        sum += s;
    const bool correct = !arguments.check() || sum == mined(ranked, ranks, support);
    return say(correct, "mined %ld transactions, %ld items, %ld sets", n, ranks, sum);
}

static const Program PROGRAM = {"freqmine", "[TRANSACTIONS] [ITEMS] [SUPPORT] [GRAIN]", {{600, 100, 10, 1}}, {{40000, 1000, 40, 1}},
                                {{250000, 10000, 100, 1}}, run};
} // namespace freqmine

#endif
