//! A chain of parallel iterators as programs write them: generate, transform, filter, collect,
//! sort, reduce. `pipeline [N] [GRAIN]`; GRAIN is the least number of items a task takes
//! (`with_min_len`).

use std::process::ExitCode;

use rayon::prelude::*;
use workspan_bench::command::{Arguments, finish};
use workspan_bench::numbers::mixed;

fn main() -> ExitCode {
    let arguments = Arguments::parse("pipeline [N=1000000] [GRAIN=1024]");
    let (n, grain) = (
        arguments.number(0, 1_000_000),
        arguments.number(1, 1_024).max(1),
    );
    let mut items = generate(n, grain);
    items.par_sort_unstable_by_key(|item| item.1);
    let sum = total(&items, grain);
    let expected = (0..n as u64)
        .map(weighed)
        .filter(keep)
        .fold(0u64, |sum, item| sum.wrapping_add(item.1));
    let in_order = items.windows(2).all(|w| w[0].1 <= w[1].1);
    finish(
        &format!("kept {} of {n}, sum {sum}", items.len()),
        in_order && sum == expected,
    )
}

fn generate(n: usize, grain: usize) -> Vec<(u64, u64)> {
    (0..n)
        .into_par_iter()
        .with_min_len(grain)
        .map(|i| weighed(i as u64))
        .filter(keep)
        .collect()
}

fn total(items: &[(u64, u64)], grain: usize) -> u64 {
    items
        .par_iter()
        .with_min_len(grain)
        .map(|item| item.1)
        .reduce(|| 0, u64::wrapping_add)
}

/// The longer the number's run of trailing ones, the more rounds: uneven work.
fn weighed(i: u64) -> (u64, u64) {
    let rounds = 8 << mixed(i).trailing_ones().min(8);
    (i, (0..rounds).fold(i, |x, _| mixed(x)))
}

fn keep(item: &(u64, u64)) -> bool {
    !item.1.is_multiple_of(3)
}
