//! `sort N QUICK MERGE --input random|sorted --copy serial|parallel`: merge sort by quarters. Four
//! quarters, wait; two merges, wait; the last merge. A merge halves the larger range and searches
//! the smaller; where that is empty the rest is copied, serially as in BOTS or, with `--copy
//! parallel`, in pieces. QUICK and MERGE elements are sorted and merged serially.

use workspan_bench::numbers::mixed;

use crate::program::{Arguments, Outcome, Program, outcome, pfor_mut};

/// Number of elements that a task copies.
const COPY_GRAIN: usize = 16_384;

struct Sort {
    quick: usize,
    smallest_merge: usize,
    parallel_copy: bool,
}

impl Sort {
    fn copy(&self, from: &[u32], out: &mut [u32]) {
        if !self.parallel_copy {
            return out.copy_from_slice(from);
        }
        pfor_mut(out, 1, 0, COPY_GRAIN, &|first, out| {
            out.copy_from_slice(&from[first..first + out.len()]);
        });
    }

    fn merge(&self, a: &[u32], b: &[u32], out: &mut [u32]) {
        let (a, b) = if a.len() < b.len() { (b, a) } else { (a, b) };
        if b.is_empty() {
            return self.copy(a, out);
        }
        if b.len() < self.smallest_merge {
            return merge_serially(a, b, out);
        }
        let middle = a.len() / 2;
        let cut = b.partition_point(|&x| x < a[middle]);
        let (low, high) = out.split_at_mut(middle + cut);
        rayon::join(
            || self.merge(&a[middle..], &b[cut..], high),
            || self.merge(&a[..middle], &b[..cut], low),
        );
    }

    fn run(&self, numbers: &mut [u32], scratch: &mut [u32]) {
        let count = numbers.len();
        if count < self.quick || count < 4 {
            return numbers.sort_unstable();
        }
        let quarter = count / 4;
        let half = 2 * quarter;
        rayon::scope(|scope| {
            let (low, high) = numbers.split_at_mut(half);
            let (scratch_low, scratch_high) = scratch.split_at_mut(half);
            let (a, b) = low.split_at_mut(quarter);
            let (c, d) = high.split_at_mut(quarter);
            let (scratch_a, scratch_b) = scratch_low.split_at_mut(quarter);
            let (scratch_c, scratch_d) = scratch_high.split_at_mut(quarter);
            scope.spawn(move |_| self.run(a, scratch_a));
            scope.spawn(move |_| self.run(b, scratch_b));
            scope.spawn(move |_| self.run(c, scratch_c));
            self.run(d, scratch_d);
        });
        let (low, high) = numbers.split_at(half);
        let (scratch_low, scratch_high) = scratch.split_at_mut(half);
        rayon::join(
            || self.merge(&high[..quarter], &high[quarter..], scratch_high),
            || self.merge(&low[..quarter], &low[quarter..], scratch_low),
        );
        self.merge(scratch_low, scratch_high, numbers);
    }
}

fn merge_serially(a: &[u32], b: &[u32], out: &mut [u32]) {
    let (mut i, mut j) = (0, 0);
    for out in out {
        let from_b = j < b.len() && (i == a.len() || b[j] < a[i]);
        *out = if from_b { b[j] } else { a[i] };
        j += usize::from(from_b);
        i += usize::from(!from_b);
    }
}

fn sum(numbers: &[u32]) -> u64 {
    let each = numbers.iter().map(|&number| mixed(u64::from(number)));
    each.fold(0, u64::wrapping_add)
}

fn run(arguments: &Arguments) -> Outcome {
    let n = arguments.number(0);
    let sort = Sort {
        quick: arguments.number(1),
        smallest_merge: arguments.number(2).max(1),
        parallel_copy: arguments.option("copy", "serial") == "parallel",
    };
    let sorted = arguments.option("input", "random") == "sorted";
    let number = |i: u64| (if sorted { i } else { mixed(i) }) as u32;
    let mut numbers: Vec<u32> = (0..n as u64).map(number).collect();
    let mut scratch = vec![0; n];
    let before = sum(&numbers);
    arguments.timed(|| sort.run(&mut numbers, &mut scratch));
    outcome(
        before == sum(&numbers) && numbers.is_sorted(),
        format!("sorted {n} numbers"),
    )
}

pub const PROGRAM: Program = Program {
    name: "sort",
    usage: "[N] [QUICK] [MERGE] [--input random|sorted] [--copy serial|parallel]",
    test: [20_000, 512, 512, 0, 0],
    small: [5_000_000, 512, 512, 0, 0],
    large: [1 << 27, 512, 512, 0, 0],
    run,
};
