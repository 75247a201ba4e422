//! Aligns every one of N sequences with all after it (global alignment, score only): a loop whose
//! rounds differ in two ways, as the sequences' lengths do and as ever fewer are left.
//! `align [N] [GRAIN] [LENGTH]`; GRAIN sequences are the least a task takes.

use std::process::ExitCode;

use workspan_bench::command::{Arguments, finish, timed};
use workspan_bench::loops::pfor_reduce;
use workspan_bench::numbers::mixed;

const MATCH: i64 = 2;
const MISMATCH: i64 = -1;
const GAP: i64 = -2;

fn main() -> ExitCode {
    let arguments = Arguments::parse("align [N=100] [GRAIN=1] [LENGTH=200]");
    let (n, grain, length) = (
        arguments.number(0, 100),
        arguments.number(1, 1).max(1),
        arguments.number(2, 200).max(1) as u64,
    );
    let letter = |i: u64, k: u64| (mixed(i << 32 | k) % 4) as u8;
    let all: Vec<Vec<u8>> = (0..n as u64)
        .map(|i| (0..1 + mixed(i) % length).map(|k| letter(i, k)).collect())
        .collect();
    let sum = timed(&arguments, || align(&all, grain));
    let backwards = || -> i64 {
        let pairs = (0..n).flat_map(|i| (0..i).map(move |j| (i, j)));
        pairs.map(|(i, j)| score(&all[i], &all[j])).sum()
    };
    finish(
        &format!("aligned {n} sequences, scores {sum}"),
        n > 64 || sum == backwards(),
    )
}

fn align(all: &[Vec<u8>], grain: usize) -> i64 {
    let row = |i: usize| -> i64 { all[i + 1..].iter().map(|b| score(&all[i], b)).sum() };
    let rows = |first: usize, last: usize| (first..last).map(row).sum();
    pfor_reduce(0, all.len(), grain, &rows, &|a: i64, b| a + b).unwrap_or(0)
}

/// A function of its own without a branch on the letters, so that the program has the same inner
/// loop in every build.
#[inline(never)]
fn score(a: &[u8], b: &[u8]) -> i64 {
    let mut row: Vec<i64> = (0..=b.len() as i64).map(|j| GAP * j).collect();
    for x in a {
        let mut diagonal = row[0];
        row[0] += GAP;
        for (j, y) in b.iter().enumerate() {
            let both = diagonal + MISMATCH + (MATCH - MISMATCH) * i64::from(x == y);
            diagonal = row[j + 1];
            row[j + 1] = both.max(diagonal.max(row[j]) + GAP);
        }
    }
    row[b.len()]
}
