//! `ferret QUERIES BATCH DATABASE GRAIN`: finds the images of a data base that are most like each
//! query. Batches of BATCH queries in sequence; in each one loop over them, whose leaf does all
//! stages: load, segment, extract, index, rank. Output is serial and last. A kernel of the same
//! structure: images are generated, a segment's features are its mean and variance.

use crate::program::{Arguments, Outcome, Program, outcome, pfor_mut, unit};

const PIXELS: u64 = 32 * 32;
const SEGMENTS: usize = 4;
/// Number of answers to a query.
const TOP: usize = 5;
const BUCKETS: usize = 64;

type Features = [f64; 2 * SEGMENTS];

/// Half of the images are near copies of one of eight.
fn load(image: u64) -> Vec<f64> {
    (0..PIXELS)
        .map(|i| 0.8 * unit(image % 8 * 100_000 + i / 64) + 0.2 * unit(image * 5000 + i))
        .collect()
}

/// Segment: which of four levels each pixel is nearest to, the levels moved to their means thrice.
/// Extract: mean and variance.
fn extract(pixels: &[f64]) -> Features {
    let mut levels = [0.2, 0.4, 0.6, 0.8];
    let mut variance = [0.0; SEGMENTS];
    for _ in 0..3 {
        let (mut sum, mut squares, mut count) = ([0.0; SEGMENTS], [0.0; SEGMENTS], [0.0; SEGMENTS]);
        for &x in pixels {
            let mut nearest = 0;
            for k in 1..SEGMENTS {
                if f64::abs(x - levels[k]) < f64::abs(x - levels[nearest]) {
                    nearest = k;
                }
            }
            sum[nearest] += x;
            squares[nearest] += x * x;
            count[nearest] += 1.0;
        }
        for k in 0..SEGMENTS {
            if count[k] > 0.0 {
                levels[k] = sum[k] / count[k];
                variance[k] = squares[k] / count[k] - levels[k] * levels[k];
            }
        }
    }
    std::array::from_fn(|k| match k.checked_sub(SEGMENTS) {
        None => levels[k],
        Some(k) => variance[k],
    })
}

fn distance(a: &Features, b: &Features) -> f64 {
    let squares = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b));
    squares.fold(0.0, |sum, square| sum + square)
}

/// Images by a coarse hash of their features.
struct Database {
    images: Vec<Features>,
    buckets: Vec<Vec<usize>>,
}

fn bucket(f: &Features) -> usize {
    let digit = |x: f64| (x * 40.0) as usize % 4;
    digit(f[0]) * 16 + digit(f[1]) * 4 + digit(f[2])
}

impl Database {
    /// Features are drawn around those of the eight images.
    fn generated(size: usize) -> Self {
        let feature = |i: u64, k: u64| match k {
            0..4 => 0.2 * (k + 1) as f64 + 0.2 * unit(i * 8 + k) - 0.1,
            _ => 0.01 * unit(i * 8 + k),
        };
        let image = |i: u64| -> Features { std::array::from_fn(|k| feature(i, k as u64)) };
        let images: Vec<Features> = (0..size as u64).map(image).collect();
        let mut buckets = vec![Vec::new(); BUCKETS];
        for (i, image) in images.iter().enumerate() {
            buckets[bucket(image)].push(i);
        }
        Self { images, buckets }
    }

    /// Index and rank: the sum of the numbers of the nearest of the bucket and its neighbour.
    fn query(&self, image: u64) -> usize {
        let features = extract(&load(image));
        let own = bucket(&features);
        let near = [own, (own + 1) % BUCKETS].map(|b| self.buckets[b].iter());
        let mut found: Vec<(f64, usize)> = near
            .into_iter()
            .flatten()
            .map(|&i| (distance(&features, &self.images[i]), i))
            .collect();
        found.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        found.iter().take(TOP).map(|(_, i)| i + 1).sum()
    }
}

fn run(arguments: &Arguments) -> Outcome {
    let (n, batch) = (arguments.number(0), arguments.number(1).max(1));
    let database = Database::generated(arguments.number(2));
    let mut answers = vec![0; n];
    arguments.timed(|| {
        for (k, out) in answers.chunks_mut(batch).enumerate() {
            pfor_mut(out, 1, k * batch, arguments.number(3), &|first, out| {
                for (i, out) in (first as u64..).zip(out) {
                    *out = database.query(i);
                }
            });
        }
    });
    let same = |(i, &answer): (u64, &usize)| answer == database.query(i);
    let correct = !arguments.check() || (0..).zip(&answers).all(same);
    let sum: usize = answers.iter().sum();
    outcome(correct, format!("answered {n} queries, sum {sum}"))
}

pub const PROGRAM: Program = Program {
    name: "ferret",
    usage: "[QUERIES] [BATCH] [DATABASE] [GRAIN]",
    test: [60, 20, 500, 1, 0],
    small: [10_000, 100, 12_000, 1, 0],
    large: [35_000, 100, 59_695, 1, 0],
    run,
};
