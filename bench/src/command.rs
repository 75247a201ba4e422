//! Command lines of the kernels: numbers in order, with defaults.

use std::process::ExitCode;
use std::time::Instant;

/// A kernel's arguments: positional numbers, and `--name value` pairs.
#[derive(Debug, Clone, Default)]
pub struct Arguments {
    numbers: Vec<usize>,
    options: Vec<(String, String)>,
}

impl Arguments {
    /// The process's arguments. If they are not numbers and `--name value`, prints `usage` and
    /// exits with code 2.
    pub fn parse(usage: &str) -> Self {
        Self::parse_words(std::env::args().skip(1), usage)
    }

    /// The arguments in the given words.
    pub fn parse_words(words: impl Iterator<Item = String>, usage: &str) -> Self {
        match Self::read(words) {
            Ok(arguments) => arguments,
            Err(wrong) => {
                eprintln!("{wrong}\nusage: {usage}");
                std::process::exit(2);
            }
        }
    }

    fn read(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut read = Self::default();
        while let Some(word) = words.next() {
            if let Some(name) = word.strip_prefix("--") {
                let value = words
                    .next()
                    .ok_or_else(|| format!("--{name} needs a value"))?;
                read.options.push((name.to_string(), value));
            } else {
                let number = word.replace('_', "").parse();
                read.numbers
                    .push(number.map_err(|_| format!("`{word}` is not a number"))?);
            }
        }
        Ok(read)
    }

    /// The positional number at `index`, or the default.
    pub fn number(&self, index: usize, default: usize) -> usize {
        self.numbers.get(index).copied().unwrap_or(default)
    }

    /// The value of `--name`, or the default.
    pub fn option<'a>(&'a self, name: &str, default: &'a str) -> &'a str {
        self.options
            .iter()
            .rev()
            .find(|o| o.0 == name)
            .map_or(default, |o| o.1.as_str())
    }
}

/// Runs `work`; with `--time yes` prints the time to stderr, like the kernels in C++.
pub fn timed<R>(arguments: &Arguments, work: impl FnOnce() -> R) -> R {
    let started = Instant::now();
    let result = work();
    let took = started.elapsed().as_nanos();
    if arguments.option("time", "") == "yes" {
        eprintln!("kernel took {took} ns");
    }
    result
}

/// Prints the result line and turns a failed check into exit code 1.
pub fn finish(result: &str, correct: bool) -> ExitCode {
    println!("{result}");
    if correct {
        ExitCode::SUCCESS
    } else {
        eprintln!("the result is wrong");
        ExitCode::FAILURE
    }
}
