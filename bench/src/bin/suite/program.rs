//! Shared by the programs: a program's description, its arguments by size, its outcome.

use workspan_bench::command;
pub use workspan_bench::loops::{pfor_mut, pfor_reduce, pfor_slices};
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

/// The result as a line that is the same on every runtime, and whether it is right.
pub struct Outcome {
    pub line: String,
    pub correct: bool,
}

pub fn outcome(correct: bool, line: String) -> Outcome {
    Outcome { line, correct }
}

/// The arguments of a program.
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

    /// Whether the serial version is run too, and its result compared.
    pub fn check(&self) -> bool {
        let test = self.option("size", "small") == "test";
        self.option("check", if test { "yes" } else { "no" }) == "yes"
    }

    /// Runs the part that is measured, on a worker of the pool. Reports show only this part with
    /// `--only part:measured`.
    pub fn timed<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        static MEASURED: workspan_api::Label = workspan_api::Label::new("measured");
        let marked = || {
            let _measured = workspan_api::part(&MEASURED);
            work()
        };
        rayon::scope(|_| command::timed(self.words, marked))
    }
}

/// The `i`-th number as a float in 0 … 1.
pub fn unit(i: u64) -> f64 {
    (mixed(i) >> 11) as f64 / (1u64 << 53) as f64
}

pub fn near(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * (1.0 + b.abs())
}
