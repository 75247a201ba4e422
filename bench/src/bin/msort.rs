//! `msort [N] [GRAIN] [--merge serial|parallel] [--sizes yes]` sorts by merging. A serial last
//! merge is a strand that reads everything, a parallel one is split like the sort. GRAIN are sorted
//! serially. With `--sizes yes`, its tasks tell how many numbers they sort.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use workspan_bench::command::{Arguments, finish, timed};
use workspan_bench::loops::{pfor_mut, pfor_reduce};
use workspan_bench::numbers::mixed;

const USAGE: &str = "msort [N=10000000] [GRAIN=20000] [--merge serial|parallel] [--sizes yes]";

/// Whether tasks tell their sizes.
static TELLS_SIZES: AtomicBool = AtomicBool::new(false);

type Merge = fn(&[u64], &[u64], &mut [u64], usize);

fn main() -> ExitCode {
    let arguments = Arguments::parse(USAGE);
    let (n, grain) = (
        arguments.number(0, 10_000_000),
        arguments.number(1, 20_000).max(2),
    );
    let merge: Merge = match arguments.option("merge", "serial") {
        "serial" => |a, b, out, _| merge_serial(a, b, out),
        "parallel" => merge_parallel,
        other => {
            eprintln!("--merge is serial or parallel, not `{other}`\nusage: {USAGE}");
            return ExitCode::from(2);
        }
    };
    TELLS_SIZES.store(arguments.option("sizes", "no") == "yes", Ordering::Relaxed);
    // Made and checked in parallel, so that the sort is what limits; by loops that have the same
    // tasks in C++.
    let (mut numbers, mut scratch) = (vec![0; n], vec![0; n]);
    pfor_mut(&mut numbers, 1, 0, 20_000, &fill);
    let (before, _) = fingerprint(&numbers);
    timed(&arguments, || {
        msort(&mut numbers, &mut scratch, grain, merge)
    });
    let sorted = fingerprint(&numbers) == (before, true);
    finish(&format!("sorted {n} numbers"), sorted)
}

/// A sum that sorting must not change, and whether the numbers are in order.
fn fingerprint(numbers: &[u64]) -> (u64, bool) {
    let part_fingerprint =
        |a: usize, b: usize| sum_and_order(&numbers[a.saturating_sub(1)..b], a > 0);
    let both = |a: (u64, bool), b: (u64, bool)| (a.0.wrapping_add(b.0), a.1 && b.1);
    pfor_reduce(0, numbers.len(), 20_000, &part_fingerprint, &both).unwrap_or((0, true))
}

fn msort(numbers: &mut [u64], scratch: &mut [u64], grain: usize, merge: Merge) {
    tell_size(numbers);
    if numbers.len() <= grain {
        numbers.sort_unstable();
        return;
    }
    let middle = numbers.len() / 2;
    let (a, b) = numbers.split_at_mut(middle);
    let (scratch_a, scratch_b) = scratch.split_at_mut(middle);
    rayon::join(
        || msort_into(b, scratch_b, grain, merge),
        || msort_into(a, scratch_a, grain, merge),
    );
    merge(&scratch[..middle], &scratch[middle..], numbers, grain);
}

/// Sorts `numbers` into `out`, so that a merge never has to copy back.
fn msort_into(numbers: &mut [u64], out: &mut [u64], grain: usize, merge: Merge) {
    tell_size(numbers);
    if numbers.len() <= grain {
        numbers.sort_unstable();
        out.copy_from_slice(numbers);
        return;
    }
    let middle = numbers.len() / 2;
    let (a, b) = numbers.split_at_mut(middle);
    let (out_a, out_b) = out.split_at_mut(middle);
    rayon::join(
        || msort(b, out_b, grain, merge),
        || msort(a, out_a, grain, merge),
    );
    merge(a, b, out, grain);
}

fn tell_size(numbers: &[u64]) {
    if TELLS_SIZES.load(Ordering::Relaxed) {
        workspan_api::size(numbers.len() as u64);
    }
}

fn merge_serial<'a>(mut a: &'a [u64], mut b: &'a [u64], out: &mut [u64]) {
    for slot in out.iter_mut() {
        let from_a = match (a.first(), b.first()) {
            (Some(x), Some(y)) => x <= y,
            (x, _) => x.is_some(),
        };
        let source = if from_a { &mut a } else { &mut b };
        if let Some((&first, rest)) = source.split_first() {
            *slot = first;
            *source = rest;
        }
    }
}

fn merge_parallel(a: &[u64], b: &[u64], out: &mut [u64], grain: usize) {
    if out.len() <= grain {
        merge_serial(a, b, out);
        return;
    }
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    let middle = long.len() / 2;
    let cut = short.partition_point(|x| *x < long[middle]);
    let (low, high) = out.split_at_mut(middle + cut);
    rayon::join(
        || merge_parallel(&long[middle..], &short[cut..], high, grain),
        || merge_parallel(&long[..middle], &short[..cut], low, grain),
    );
}

fn fill(first: usize, numbers: &mut [u64]) {
    for (i, number) in (first as u64..).zip(numbers) {
        *number = mixed(i);
    }
}

/// Sum and order of a piece; `after` if its first number is the previous piece's last one.
fn sum_and_order(piece: &[u64], after: bool) -> (u64, bool) {
    let own = piece.iter().skip(usize::from(after));
    let sum = own.fold(0u64, |sum, &x| sum.wrapping_add(x ^ mixed(x)));
    (sum, piece.is_sorted())
}
