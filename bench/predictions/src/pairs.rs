//! What is judged: kernels before and after a known fix, and which of all kernels tune the costs.
//!
//! The sets were named before the first run, and stay: a kernel that tuned a cost can't judge it.

use workspan_cli::bench::kernels::{KERNELS, Kernel};
use workspan_cli::bench::runtime::Runtime;

/// Kernels whose times the simulation's default costs may be fitted to. All others, and all pairs
/// but those of these kernels, are blind: whatever they say, no constant is changed for them.
pub const TUNING: [&str; 4] = ["fib", "nqueens", "holder", "late"];

/// Whether a kernel judges.
pub fn is_blind(kernel: &str) -> bool {
    !TUNING.contains(&kernel)
}

/// A part of a kernel's source: from the line of one text to the line before another.
#[derive(Debug, Clone, Copy)]
pub struct Between(pub &'static str, pub &'static str);

impl Between {
    /// Lines of `source`, from and to; `None` where the texts are not there.
    pub fn lines(self, source: &str) -> Option<(u32, u32)> {
        let line = |text: &str| -> Option<u32> {
            let at = source.lines().position(|line| line.contains(text))?;
            u32::try_from(at + 1).ok()
        };
        let (from, to) = (line(self.0)?, line(self.1)?);
        (from < to).then(|| (from, to - 1))
    }
}

/// The fix, as the simulation takes it.
#[derive(Debug, Clone, Copy)]
pub enum How {
    /// A strand after a wait at the site is divided; the number is that of all its pieces.
    AfterWaits(u64),
    /// Each strand of a task created at the site is divided into this number of pieces.
    Tasks(u32),
    /// Tasks created at the site run inline where those waited for together hold at most this
    /// number of tasks: first on Rayon, where both sides of a join are tasks, then on the other
    /// runtimes.
    Cutoff(u64, u64),
}

/// A kernel before and after a known fix.
#[derive(Debug, Clone, Copy)]
pub struct Pair {
    /// What was changed.
    pub title: &'static str,
    /// Before; `kernel.arguments` are those.
    pub kernel: Kernel,
    /// After.
    pub after: &'static [&'static str],
    /// The code that is changed, in Rust and in C++.
    pub rust: Between,
    /// See `rust`.
    pub cpp: Between,
    /// How.
    pub how: How,
}

impl Pair {
    /// File and lines of the code for a runtime's program.
    pub fn code(&self, runtime: Runtime) -> Option<(String, u32, u32)> {
        let (ending, part, files) = match runtime {
            Runtime::Rayon => ("rs", self.rust, self.kernel.rust),
            _ => ("cpp", self.cpp, self.kernel.cpp),
        };
        let (_, source) = files.first()?;
        let (from, to) = part.lines(source)?;
        Some((format!("{}.{ending}", self.kernel.name), from, to))
    }
}

/// Reads records of text serially, or in parallel; it is no kernel of `bench runtimes`.
const RECORDS: Kernel = Kernel {
    name: "records",
    arguments: &["2000000", "20000", "20"],
    about: "a serial read before a parallel loop",
    question: false,
    cpp: &[("records.cpp", include_str!("../../tp/records.cpp"))],
    rust: &[(
        "src/bin/records.rs",
        include_str!("../../src/bin/records.rs"),
    )],
};

/// The pairs. fib's tunes.
pub fn pairs() -> Vec<Pair> {
    let with = |name: &str, arguments: &'static [&'static str]| {
        let known = KERNELS.iter().find(|k| k.name == name);
        known.map(|&kernel| Kernel {
            arguments,
            ..kernel
        })
    };
    let mut pairs = vec![Pair {
        title: "serial read -> parallel read",
        kernel: RECORDS,
        after: &["2000000", "20000", "20", "--read", "parallel"],
        rust: Between("let mut text", "if parallel"),
        cpp: Between("TP_RUN(", "if (parallel)"),
        how: How::AfterWaits(100),
    }];
    // 2,000,000 = 128 x 15,625: each of seven levels is merged in 128 pieces.
    pairs.extend(with("msort", &["2000000", "20000"]).map(|kernel| Pair {
        title: "serial merge -> parallel merge",
        kernel,
        after: &["2000000", "20000", "--merge", "parallel"],
        rust: Between("fn msort(", "fn merge_serial"),
        cpp: Between("void sort(", "static void fill"),
        how: How::AfterWaits(7 * 128),
    }));
    pairs.extend(with("align", &["240", "60", "250"]).map(|kernel| Pair {
        title: "unbalanced -> balanced chunks",
        kernel,
        after: &["240", "3", "250"],
        rust: Between("fn align(", "fn score("),
        cpp: Between("static long align(", "int main("),
        how: How::Tasks(20),
    }));
    // Blocks of 16 are divided out of blocks of 64 by four halvings: 30 tasks where both halves are
    // tasks.
    pairs.extend(with("matmul", &["512", "16"]).map(|kernel| Pair {
        title: "fine -> coarse blocks",
        kernel,
        after: &["512", "64"],
        rust: Between("fn multiply(", "fn multiply_serial("),
        cpp: Between("TP_TASKS(halves)", "void multiply_serial("),
        how: How::Cutoff(30, 8),
    }));
    // Below 22 the recursion is serial instead of below 14.
    pairs.extend(with("fib", &["36", "14"]).map(|kernel| Pair {
        title: "fine -> coarse recursion",
        kernel,
        after: &["36", "22"],
        rust: Between("fn fib(", "fn serial("),
        cpp: Between("static long fib(", "int main("),
        how: How::Cutoff(both_sides(21, 14) - 1, one_side(20, 14)),
    }));
    pairs
}

/// Tasks in fib(m) where both sides of a join are tasks, itself among them.
fn both_sides(m: u64, grain: u64) -> u64 {
    if m < grain {
        1
    } else {
        1 + both_sides(m - 1, grain) + both_sides(m - 2, grain)
    }
}

/// The same where the second side is a call.
fn one_side(m: u64, grain: u64) -> u64 {
    if m < grain {
        1
    } else {
        one_side(m - 1, grain) + one_side(m - 2, grain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pairs_code_is_in_its_sources() {
        let all = pairs();
        assert_eq!(all.len(), 5);
        for pair in &all {
            assert!(
                KERNELS.iter().any(|k| k.name == pair.kernel.name) || pair.kernel.name == "records"
            );
            for runtime in [Runtime::Rayon, Runtime::OneTbb] {
                assert!(pair.code(runtime).is_some(), "{} {runtime:?}", pair.title);
            }
        }
        // What tunes is known, and most of what there is judges.
        assert!(
            TUNING
                .iter()
                .all(|name| KERNELS.iter().any(|k| k.name == *name))
        );
        assert_eq!(all.iter().filter(|p| is_blind(p.kernel.name)).count(), 4);
    }

    #[test]
    fn tasks_of_a_recursion() {
        assert_eq!(
            (both_sides(13, 14), both_sides(14, 14), both_sides(15, 14)),
            (1, 3, 5)
        );
        assert_eq!(
            (one_side(13, 14), one_side(14, 14), one_side(15, 14)),
            (1, 2, 3)
        );
    }
}
