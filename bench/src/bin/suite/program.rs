//! What the programs have in common: a program's description, its arguments by size, its outcome,
//! and the recursive loops.

use workspan_bench::command;
use workspan_bench::numbers::mixed;

/// Numbers by size, in the order of the usage.
pub type Numbers = [usize; 5];

/// A program of the suite.
pub struct Program {
    pub name: &'static str,
    /// Positional numbers and options.
    pub usage: &'static str,
    pub test: Numbers,
    pub small: Numbers,
    pub large: Numbers,
    pub run: fn(&Arguments) -> Outcome,
}

impl Program {
    pub fn numbers(&self, size: &str) -> Numbers {
        match size {
            "test" => self.test,
            "large" => self.large,
            _ => self.small,
        }
    }
}

/// The result as a line that every runtime prints alike, and whether it is right.
pub struct Outcome {
    pub line: String,
    pub correct: bool,
}

pub fn outcome(correct: bool, line: String) -> Outcome {
    Outcome { line, correct }
}

/// What a program was asked to do.
pub struct Arguments<'a> {
    words: &'a command::Arguments,
    defaults: Numbers,
}

impl<'a> Arguments<'a> {
    pub fn new(words: &'a command::Arguments, defaults: Numbers) -> Self {
        Self { words, defaults }
    }

    /// The positional number at `index`, or that of the size.
    pub fn number(&self, index: usize) -> usize {
        self.words.number(index, self.defaults[index])
    }

    pub fn option(&self, name: &str, default: &'a str) -> &'a str {
        self.words.option(name, default)
    }

    /// The serial version is run, too, and its result compared.
    pub fn check(&self) -> bool {
        let test = self.option("size", "small") == "test";
        self.option("check", if test { "yes" } else { "no" }) == "yes"
    }

    /// Runs the part that is measured, on a worker.
    pub fn timed<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        rayon::scope(|_| command::timed(self.words, work))
    }
}

/// The `i`-th number as a float in 0 … 1.
pub fn unit(i: u64) -> f64 {
    (mixed(i) >> 11) as f64 / (1u64 << 53) as f64
}

pub fn near(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * (1.0 + b.abs())
}

/// Calls `leaf(first, piece)` for pieces of `rows`, which have `width` elements a row: halves them
/// until `grain` rows or fewer are left, as TP_PFOR does. The left half is the side of the join
/// that another worker can take.
pub fn pfor_mut<T: Send>(
    rows: &mut [T],
    width: usize,
    first: usize,
    grain: usize,
    leaf: &(impl Fn(usize, &mut [T]) + Sync),
) {
    let count = rows.len() / width;
    if count == 0 {
        return;
    }
    if count <= grain.max(1) {
        return leaf(first, rows);
    }
    let middle = count / 2;
    let (left, right) = rows.split_at_mut(middle * width);
    rayon::join(
        || pfor_mut(right, width, first + middle, grain, leaf),
        || pfor_mut(left, width, first, grain, leaf),
    );
}

/// The same over several slices of as many rows each, which are halved together.
pub fn pfor_slices<T: Send>(
    mut slices: Vec<&mut [T]>,
    width: usize,
    first: usize,
    grain: usize,
    leaf: &(impl Fn(usize, &mut [&mut [T]]) + Sync),
) {
    let count = slices.first().map_or(0, |slice| slice.len() / width);
    if count == 0 {
        return;
    }
    if count <= grain.max(1) {
        return leaf(first, &mut slices);
    }
    let middle = count / 2;
    let halves = slices.into_iter().map(|s| s.split_at_mut(middle * width));
    let (left, right): (Vec<_>, Vec<_>) = halves.unzip();
    rayon::join(
        || pfor_slices(right, width, first + middle, grain, leaf),
        || pfor_slices(left, width, first, grain, leaf),
    );
}

/// The same tree over `[first, last)`; the leaves' results are combined in the order of the range.
/// `None` for an empty range.
pub fn pfor_reduce<T: Send>(
    first: usize,
    last: usize,
    grain: usize,
    leaf: &(impl Fn(usize, usize) -> T + Sync),
    combine: &(impl Fn(T, T) -> T + Sync),
) -> Option<T> {
    if first >= last {
        return None;
    }
    if last - first <= grain.max(1) {
        return Some(leaf(first, last));
    }
    let middle = first + (last - first) / 2;
    let (right, left) = rayon::join(
        || pfor_reduce(middle, last, grain, leaf, combine),
        || pfor_reduce(first, middle, grain, leaf, combine),
    );
    match (left, right) {
        (Some(left), Some(right)) => Some(combine(left, right)),
        (left, right) => left.or(right),
    }
}
