//! The sets of programs: kernels before and after a known fix, and the kernels that tune the costs.
//!
//! The sets were fixed before the first run: a kernel that tuned a cost can't judge it.

use workspan_cli::bench::kernels::{KERNELS, Kernel};
use workspan_cli::bench::runtime::Runtime;

/// Kernels to whose times the simulation's default costs may be fitted. All others, and all pairs
/// except those of these kernels, are blind: whatever their results, no constant is changed for
/// them.
pub const TUNING: [&str; 4] = ["fib", "nqueens", "holder", "late"];

/// Whether a kernel is used to judge predictions.
pub fn is_blind(kernel: &str) -> bool {
    !TUNING.contains(&kernel)
}

/// A part of a kernel's source: from the line with one text to the line before another text.
#[derive(Debug, Clone, Copy)]
pub struct SourceRange(pub &'static str, pub &'static str);

impl SourceRange {
    /// First and last line in `source`; `None` if the texts are not found.
    pub fn lines(self, source: &str) -> Option<(u32, u32)> {
        let line = |text: &str| -> Option<u32> {
            let at = source.lines().position(|line| line.contains(text))?;
            u32::try_from(at + 1).ok()
        };
        let (from, to) = (line(self.0)?, line(self.1)?);
        (from < to).then(|| (from, to - 1))
    }
}

/// The fix, in the terms of the simulation.
#[derive(Debug, Clone, Copy)]
pub enum FixKind {
    /// A strand after a wait at the site is divided; the number is the total number of pieces.
    AfterWaits(u64),
    /// Each strand of a task created at the site is divided into this number of pieces.
    Tasks(u32),
    /// Tasks created at the site run inline if those that are waited for together contain at most
    /// this number of tasks. The first number is for Rayon, where both sides of a join are tasks,
    /// the second for the other runtimes.
    Cutoff(u64, u64),
}

/// A kernel before and after a known fix.
#[derive(Debug, Clone, Copy)]
pub struct Pair {
    /// Description of the change.
    pub title: &'static str,
    /// The kernel before the fix, with its arguments.
    pub kernel: Kernel,
    /// The arguments after the fix.
    pub after: &'static [&'static str],
    /// The changed code, in Rust.
    pub rust: SourceRange,
    /// The changed code, in C++.
    pub cpp: SourceRange,
    /// The fix.
    pub how: FixKind,
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

/// A kernel that reads records of text, serially or in parallel; it is not one of `bench runtimes`.
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

/// The pairs; those of fib are for tuning.
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
        rust: SourceRange("let mut text", "if parallel"),
        cpp: SourceRange("TP_RUN(", "if (parallel)"),
        how: FixKind::AfterWaits(100),
    }];
    // 2,000,000 = 128 x 15,625: each of seven levels is merged in 128 pieces.
    pairs.extend(with("msort", &["2000000", "20000"]).map(|kernel| Pair {
        title: "serial merge -> parallel merge",
        kernel,
        after: &["2000000", "20000", "--merge", "parallel"],
        rust: SourceRange("fn msort(", "fn merge_serial"),
        cpp: SourceRange("void sort(", "static void fill"),
        how: FixKind::AfterWaits(7 * 128),
    }));
    pairs.extend(with("align", &["240", "60", "250"]).map(|kernel| Pair {
        title: "unbalanced -> balanced chunks",
        kernel,
        after: &["240", "3", "250"],
        rust: SourceRange("fn align(", "fn score("),
        cpp: SourceRange("static long align(", "int main("),
        how: FixKind::Tasks(20),
    }));
    // Four halvings divide blocks of 64 into blocks of 16: 30 tasks, as both halves are tasks.
    pairs.extend(with("matmul", &["512", "16"]).map(|kernel| Pair {
        title: "fine -> coarse blocks",
        kernel,
        after: &["512", "64"],
        rust: SourceRange("fn multiply(", "fn multiply_serial("),
        cpp: SourceRange("TP_TASKS(halves)", "void multiply_serial("),
        how: FixKind::Cutoff(30, 8),
    }));
    // The recursion becomes serial below 22 instead of 14.
    pairs.extend(with("fib", &["36", "14"]).map(|kernel| Pair {
        title: "fine -> coarse recursion",
        kernel,
        after: &["36", "22"],
        rust: SourceRange("fn fib(", "fn serial("),
        cpp: SourceRange("static long fib(", "int main("),
        how: FixKind::Cutoff(both_sides(21, 14) - 1, one_side(20, 14)),
    }));
    pairs
}

/// Number of tasks in fib(m), including itself, if both sides of a join are tasks.
fn both_sides(m: u64, grain: u64) -> u64 {
    if m < grain {
        1
    } else {
        1 + both_sides(m - 1, grain) + both_sides(m - 2, grain)
    }
}

/// Number of tasks in fib(m), including itself, if the second side is a call.
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
        // The tuning kernels exist, and most kernels judge.
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
