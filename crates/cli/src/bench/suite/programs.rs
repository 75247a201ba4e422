//! The programs of the suite: their names, and their sources, which are embedded in the tool.

use super::super::kernels::Kernel;
use super::names;

/// A program of the suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Program {
    /// Its name.
    pub name: &'static str,
    /// Its task structure, in a few words.
    pub about: &'static str,
}

const fn program(name: &'static str, about: &'static str) -> Program {
    Program { name, about }
}

/// All programs, in the order in which they run: BOTS, then TP-PARSEC.
pub const PROGRAMS: [Program; 21] = [
    program("alignment", "a loop of uneven leaf tasks"),
    program("fft", "a tree with halved loops at each node"),
    program("fib", "a balanced binary tree"),
    program("floorplan", "branch and bound"),
    program("health", "steps of a tree of villages"),
    program("nqueens", "an irregular tree"),
    program("sort", "a tree of quarters and of merges"),
    program("sparselu", "steps; one task creates all others"),
    program("strassen", "seven products between serial additions"),
    program("uts", "a task for each node of an unbalanced tree"),
    program("blackscholes", "runs of one even loop"),
    program(
        "bodytrack",
        "frames of five loops, read and written serially",
    ),
    program("canneal", "steps of one loop, without locks for readers"),
    program("dedup", "a pipeline with a serial first and last stage"),
    program("facesim", "many loops of few tasks"),
    program("ferret", "batches of one loop"),
    program("fluidanimate", "steps of six loops over blocks"),
    program("freqmine", "a loop of very uneven tasks"),
    program("raytrace", "frames, split recursively"),
    program("streamcluster", "loops and reductions, block by block"),
    program("swaptions", "one loop"),
];

macro_rules! suite {
    ($($name:literal),*) => {
        Kernel {
            name: "suite",
            arguments: &[],
            about: "BOTS and TP-PARSEC",
            question: false,
            cpp: &[
                (
                    "suite/suite.cpp",
                    include_str!("../../../kernels/tp/suite/suite.cpp"),
                ),
                (
                    "suite/suite.h",
                    include_str!("../../../kernels/tp/suite/suite.h"),
                ),
                $((
                    concat!("suite/", $name, ".h"),
                    include_str!(concat!("../../../kernels/tp/suite/", $name, ".h")),
                )),*
            ],
            rust: &[
                (
                    "src/bin/suite/main.rs",
                    include_str!("../../../kernels/src/bin/suite/main.rs"),
                ),
                (
                    "src/bin/suite/program.rs",
                    include_str!("../../../kernels/src/bin/suite/program.rs"),
                ),
                $((
                    concat!("src/bin/suite/", $name, ".rs"),
                    include_str!(concat!("../../../kernels/src/bin/suite/", $name, ".rs")),
                )),*
            ],
        }
    };
}

/// One program that contains all of them.
pub const SUITE: Kernel = suite!(
    "alignment",
    "fft",
    "fib",
    "floorplan",
    "health",
    "nqueens",
    "sort",
    "sparselu",
    "strassen",
    "uts",
    "blackscholes",
    "bodytrack",
    "canneal",
    "dedup",
    "facesim",
    "ferret",
    "fluidanimate",
    "freqmine",
    "raytrace",
    "streamcluster",
    "swaptions"
);

/// The programs with the given names, each once; all if `given` is empty. `bots` and `parsec` are
/// names too.
///
/// # Errors
/// A name is unknown; the message has the closest ones.
pub fn chosen(given: &[String]) -> anyhow::Result<Vec<Program>> {
    let groups = [("bots", &PROGRAMS[..10]), ("parsec", &PROGRAMS[10..])];
    let known: Vec<&str> = PROGRAMS
        .iter()
        .map(|program| program.name)
        .chain(groups.map(|group| group.0))
        .collect();
    let given = names::known("program", given, &known)?;
    let is_chosen = |program: &Program| {
        let in_group = |name: &str| {
            let group = groups.iter().find(|group| group.0 == name);
            group.is_some_and(|group| group.1.contains(program))
        };
        given
            .iter()
            .any(|name| *name == program.name || in_group(name))
    };
    Ok(PROGRAMS
        .into_iter()
        .filter(|program| given.is_empty() || is_chosen(program))
        .collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use super::*;

    #[test]
    fn names_choose_programs_once_and_in_order() {
        let names = |list: &[&str]| -> Vec<&str> {
            let list: Vec<String> = list.iter().map(ToString::to_string).collect();
            chosen(&list).unwrap().iter().map(|p| p.name).collect()
        };
        assert_eq!(names(&["uts", "fib", "fib"]), ["fib", "uts"]);
        assert_eq!(names(&[]).len(), 21);
        assert_eq!(names(&["bots"]).last(), Some(&"uts"));
        assert_eq!(names(&["parsec", "fib"]).len(), 12);
        let unknown = chosen(&["sparcelu".into()]).unwrap_err().to_string();
        assert!(
            unknown.starts_with("no program `sparcelu`; did you mean sparselu?"),
            "{unknown}"
        );
    }

    #[test]
    fn every_program_is_in_both_sources() {
        for program in PROGRAMS {
            let file = |ending: &str| format!("suite/{}.{ending}", program.name);
            assert!(SUITE.cpp.iter().any(|f| f.0 == file("h")), "{program:?}");
            let rust = format!("src/bin/{}", file("rs"));
            assert!(SUITE.rust.iter().any(|f| f.0 == rust), "{program:?}");
        }
    }
}
