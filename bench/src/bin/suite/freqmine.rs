//! `freqmine TRANSACTIONS ITEMS SUPPORT GRAIN`: counts the sets of items that are in SUPPORT
//! transactions or more. Loops over pieces of the transactions: count the items; sort out the rare
//! ones and rank the rest; then one loop over the items that mines what lies before each, serially
//! and recursively: very uneven.

use workspan_bench::numbers::mixed;

use crate::program::{Arguments, Outcome, Program, outcome, pfor_mut, pfor_reduce, unit};

/// Items, sorted.
type Transaction = Vec<usize>;

/// Number of transactions that a task counts or ranks.
const PIECE: usize = 256;

/// Only a few items are in many transactions.
fn generated(transaction: u64, items: usize) -> Transaction {
    let item = |k: u64| {
        let draw = unit(transaction * 32 + k);
        (draw * draw * draw * items as f64) as usize
    };
    let mut all: Transaction = (0..4 + mixed(transaction) % 12).map(item).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The items before an item in the transactions that contain it.
fn before<'a>(base: &[&'a [usize]], item: usize) -> Vec<&'a [usize]> {
    let cut = |t: &&'a [usize]| {
        let at = t.partition_point(|&other| other < item);
        (at > 0 && t.get(at) == Some(&item)).then(|| &t[..at])
    };
    base.iter().filter_map(cut).collect()
}

/// Frequent sets of the items of `base`'s transactions; each transaction is sorted by rank.
fn mined(base: &[&[usize]], ranks: usize, support: usize) -> usize {
    let mut count = vec![0; ranks];
    for &item in base.iter().copied().flatten() {
        count[item] += 1;
    }
    (0..ranks)
        .filter(|&item| count[item] >= support)
        .map(|item| 1 + mined(&before(base, item), item, support))
        .sum()
}

/// The transactions with their items' ranks, and the number of ranks.
fn ranked(given: &[Transaction], items: usize, support: usize) -> (Vec<Transaction>, usize) {
    let count = |a: usize, b: usize| {
        let mut found = vec![0usize; items];
        for &item in given[a..b].iter().flatten() {
            found[item] += 1;
        }
        found
    };
    let added = |mut a: Vec<usize>, b: Vec<usize>| {
        a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        a
    };
    let counts = pfor_reduce(0, given.len(), PIECE, &count, &added).unwrap_or_default();
    // The most frequent first.
    let frequent = |&item: &usize| counts[item] >= support;
    let mut order: Vec<usize> = (0..counts.len()).filter(frequent).collect();
    order.sort_unstable_by(|&a, &b| counts[b].cmp(&counts[a]).then(a.cmp(&b)));
    let mut ranks = vec![None; items];
    for (rank, &item) in order.iter().enumerate() {
        ranks[item] = Some(rank);
    }
    let mut out = vec![Transaction::new(); given.len()];
    pfor_mut(&mut out, 1, 0, PIECE, &|first, out| {
        for (out, given) in out.iter_mut().zip(&given[first..]) {
            out.extend(given.iter().filter_map(|&item| ranks[item]));
            out.sort_unstable();
        }
    });
    (out, order.len())
}

fn run(arguments: &Arguments) -> Outcome {
    let (n, items) = (arguments.number(0), arguments.number(1).max(1));
    let support = arguments.number(2).max(1);
    let given: Vec<Transaction> = (0..n as u64).map(|i| generated(i, items)).collect();
    let (transactions, sets) = arguments.timed(|| {
        let (transactions, ranks) = ranked(&given, items, support);
        let all: Vec<&[usize]> = transactions.iter().map(Vec::as_slice).collect();
        let mut sets = vec![0; ranks];
        pfor_mut(&mut sets, 1, 0, arguments.number(3), &|first, out| {
            for (item, out) in (first..).zip(out) {
                *out = 1 + mined(&before(&all, item), item, support);
            }
        });
        (transactions, sets)
    });
    let (ranks, sum) = (sets.len(), sets.iter().sum::<usize>());
    let all: Vec<&[usize]> = transactions.iter().map(Vec::as_slice).collect();
    outcome(
        !arguments.check() || sum == mined(&all, ranks, support),
        format!("mined {n} transactions, {ranks} items, {sum} sets"),
    )
}

pub const PROGRAM: Program = Program {
    name: "freqmine",
    usage: "[TRANSACTIONS] [ITEMS] [SUPPORT] [GRAIN]",
    test: [600, 100, 10, 1, 0],
    small: [40_000, 1000, 40, 1, 0],
    large: [250_000, 10_000, 100, 1, 0],
    run,
};
