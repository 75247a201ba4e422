//! `alignment N LENGTH`: aligns each pair of N proteins of up to LENGTH residues in linear space: a
//! pass forward finds the end of the best local alignment, a pass backward its start, dividing
//! recursively its identical residues. One loop, one leaf task for each pair; the pairs are very
//! uneven.

use workspan_bench::numbers::mixed;

use crate::program::{Arguments, Outcome, Program, outcome, unit};

const GAP: i64 = 6;
const RESIDUES: usize = 20;

type Scores = [[i64; RESIDUES]; RESIDUES];

fn generated_scores() -> Scores {
    let score = |i: usize, j: usize| match i == j {
        true => 8,
        false => (mixed((i.min(j) * RESIDUES + i.max(j)) as u64) % 8) as i64 - 5,
    };
    std::array::from_fn(|i| std::array::from_fn(|j| score(i, j)))
}

/// Only a few are long.
fn protein(number: u64, length: usize) -> Vec<u8> {
    let seed = number << 32;
    let share = unit(seed) * unit(seed + 1);
    let count = 1 + (share * length as f64) as u64;
    (0..count)
        .map(|k| (mixed(seed + 2 + k) % RESIDUES as u64) as u8)
        .collect()
}

fn reversed(piece: &[u8]) -> Vec<u8> {
    piece.iter().rev().copied().collect()
}

/// The best local alignment's score and end (exclusive).
fn local_end(scores: &Scores, a: &[u8], b: &[u8]) -> (i64, usize, usize) {
    let mut row = vec![0i64; b.len() + 1];
    let mut best = (0, 0, 0);
    for (i, &residue) in a.iter().enumerate() {
        let of_residue = &scores[usize::from(residue)];
        let mut diagonal = 0;
        for (j, &other) in b.iter().enumerate() {
            let both = diagonal + of_residue[usize::from(other)];
            diagonal = row[j + 1];
            let score = both.max(0).max(diagonal.max(row[j]) - GAP);
            row[j + 1] = score;
            if score > best.0 {
                best = (score, i + 1, j + 1);
            }
        }
    }
    best
}

/// The last row of the global alignment's scores.
fn global_row(scores: &Scores, a: &[u8], b: &[u8]) -> Vec<i64> {
    let mut row: Vec<i64> = (0..=b.len() as i64).map(|j| -GAP * j).collect();
    for &residue in a {
        let of_residue = &scores[usize::from(residue)];
        let mut diagonal = row[0];
        row[0] -= GAP;
        for (j, &other) in b.iter().enumerate() {
            let both = diagonal + of_residue[usize::from(other)];
            diagonal = row[j + 1];
            row[j + 1] = both.max(diagonal.max(row[j]) - GAP);
        }
    }
    row
}

/// Identical residues of the best global alignment: divides `a` in the middle and `b` where the
/// halves' scores are best.
fn identical(scores: &Scores, a: &[u8], b: &[u8]) -> i64 {
    if a.is_empty() || b.is_empty() {
        return 0;
    }
    if let [residue] = a {
        return i64::from(b.contains(residue));
    }
    let (upper, lower) = a.split_at(a.len() / 2);
    let left = global_row(scores, upper, b);
    let right = global_row(scores, &reversed(lower), &reversed(b));
    let score = |j: usize| left[j] + right[b.len() - j];
    let cut = (1..=b.len()).fold(0, |cut, j| if score(j) > score(cut) { j } else { cut });
    identical(scores, upper, &b[..cut]) + identical(scores, lower, &b[cut..])
}

/// The score of two proteins and, below it, the identical residues in percent.
fn aligned(scores: &Scores, a: &[u8], b: &[u8]) -> i64 {
    let (score, end_a, end_b) = local_end(scores, a, b);
    if score == 0 {
        return 0;
    }
    let (a, b) = (&a[..end_a], &b[..end_b]);
    let (_, length_a, length_b) = local_end(scores, &reversed(a), &reversed(b));
    let (from_a, from_b) = (&a[end_a - length_a..], &b[end_b - length_b..]);
    score * 101 + 100 * identical(scores, from_a, from_b) / length_a.min(length_b) as i64
}

fn run(arguments: &Arguments) -> Outcome {
    let (n, length) = (arguments.number(0), arguments.number(1).max(1));
    let scores = generated_scores();
    let proteins: Vec<Vec<u8>> = (0..n as u64).map(|i| protein(i, length)).collect();
    let pairs: Vec<(usize, usize)> = (0..n)
        .flat_map(|i| (i + 1..n).map(move |j| (i, j)))
        .collect();
    let mut results = vec![0; pairs.len()];
    arguments.timed(|| {
        rayon::scope(|scope| {
            for (out, &(i, j)) in results.iter_mut().zip(&pairs) {
                let (scores, a, b) = (&scores, &proteins[i], &proteins[j]);
                scope.spawn(move |_| *out = aligned(scores, a, b));
            }
        });
    });
    let serial = |&(i, j): &(usize, usize)| aligned(&scores, &proteins[i], &proteins[j]);
    let mut all = results.iter().zip(&pairs);
    let correct = !arguments.check() || all.all(|(&found, pair)| found == serial(pair));
    let sum: i64 = results.iter().sum();
    outcome(correct, format!("aligned {} pairs, sum {sum}", pairs.len()))
}

pub const PROGRAM: Program = Program {
    name: "alignment",
    usage: "[N] [LENGTH]",
    test: [12, 80, 0, 0, 0],
    small: [100, 500, 0, 0, 0],
    large: [100, 3000, 0, 0, 0],
    run,
};
