//! The kernels: their descriptions, and their sources, which are embedded in the tool.

/// A kernel: the same program in C++ over tp.h and in Rust over Rayon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kernel {
    /// Its name.
    pub name: &'static str,
    /// Arguments for which it takes about a tenth of a second.
    pub arguments: &'static [&'static str],
    /// A one-line description.
    pub about: &'static str,
    /// Whether it is one of the questions of Huynh's thesis instead of a computation.
    pub question: bool,
    /// tp.h C++: paths below the include folder and their texts; the first file is compiled.
    pub cpp: Files,
    /// Rayon: paths in the package and their texts; the first one is the program.
    pub rust: Files,
}

/// Paths and texts.
pub type Files = &'static [(&'static str, &'static str)];

macro_rules! kernel {
    ($name:literal, [$($argument:literal),*], $question:literal, $about:literal) => {
        Kernel {
            name: $name,
            arguments: &[$($argument),*],
            about: $about,
            question: $question,
            cpp: &[(
                concat!($name, ".cpp"),
                include_str!(concat!("../../kernels/tp/", $name, ".cpp")),
            )],
            rust: &[(
                concat!("src/bin/", $name, ".rs"),
                include_str!(concat!("../../kernels/src/bin/", $name, ".rs")),
            )],
        }
    };
}

/// All kernels, in the order in which they run.
pub const KERNELS: [Kernel; 12] = [
    kernel!(
        "fib",
        ["38", "20"],
        false,
        "a balanced binary tree of tasks"
    ),
    kernel!("nqueens", ["13", "4"], false, "an irregular tree of tasks"),
    kernel!(
        "msort",
        ["2000000", "20000"],
        false,
        "a tree whose root is a serial merge"
    ),
    kernel!(
        "matmul",
        ["640", "64"],
        false,
        "a balanced tree over memory"
    ),
    kernel!("sparselu", ["24", "32"], false, "steps of uneven tasks"),
    kernel!(
        "treesum",
        ["21", "10"],
        false,
        "a tree that fetches from memory"
    ),
    kernel!(
        "align",
        ["120", "1", "250"],
        false,
        "a loop of very uneven rounds"
    ),
    kernel!(
        "fft",
        ["20", "4096"],
        false,
        "a tree with loops in it, over memory"
    ),
    kernel!(
        "holder",
        ["20000", "1000"],
        true,
        "one worker holds all tasks"
    ),
    kernel!(
        "queue",
        ["20000", "400", "2000"],
        true,
        "a long child where the queue is full"
    ),
    kernel!(
        "deep",
        ["20", "100", "20000"],
        true,
        "a wait while the child makes the work"
    ),
    kernel!(
        "late",
        ["100", "200000"],
        true,
        "a child that could run beside its parent"
    ),
];

/// Files that all C++ kernels include, by path below the include folder.
pub const HEADERS: [(&str, &str); 3] = [
    ("kernel.h", include_str!("../../kernels/tp/kernel.h")),
    (
        "workspan/tp.h",
        include_str!("../../kernels/include/workspan/tp.h"),
    ),
    (
        "workspan.h",
        include_str!("../../kernels/include/workspan.h"),
    ),
];

macro_rules! api {
    ($($name:literal),*) => {
        [$((
            concat!("api/src/", $name),
            include_str!(concat!("../../kernels/api/", $name)),
        )),*]
    };
}

/// workspan-api, with which the suite marks the part that it measures, by path in the kernels'
/// package.
pub const RUST_API: [(&str, &str); 8] = api!(
    "lib.rs",
    "mark.rs",
    "pool.rs",
    "scope.rs",
    "signal.rs",
    "site.rs",
    "table.rs",
    "task.rs"
);

/// Modules that all Rust kernels use, by path in their package. The library of `bench/` has further
/// modules, which need further crates.
pub const RUST_LIBRARY: [(&str, &str); 4] = [
    (
        "src/lib.rs",
        "pub mod command;\npub mod loops;\npub mod numbers;\n",
    ),
    (
        "src/command.rs",
        include_str!("../../kernels/src/command.rs"),
    ),
    ("src/loops.rs", include_str!("../../kernels/src/loops.rs")),
    (
        "src/numbers.rs",
        include_str!("../../kernels/src/numbers.rs"),
    ),
];

/// The kernels with the given names; `all`, `kernels` (those that compute something) and
/// `questions` are names too.
///
/// # Errors
/// A name is unknown; the message lists the known ones.
pub fn chosen(names: &[String]) -> anyhow::Result<Vec<Kernel>> {
    let names: Vec<&str> = names
        .iter()
        .map(|n| n.trim())
        .filter(|n| !n.is_empty())
        .collect();
    let names = if names.is_empty() {
        vec!["kernels"]
    } else {
        names
    };
    for name in &names {
        if !["all", "kernels", "questions"].contains(name)
            && KERNELS.iter().all(|k| k.name != *name)
        {
            let known: Vec<&str> = KERNELS.iter().map(|k| k.name).collect();
            anyhow::bail!(
                "no kernel `{name}`; there are {}, and all, kernels, questions",
                known.join(", ")
            );
        }
    }
    let is_chosen = |kernel: &Kernel| {
        names.iter().any(|&name| match name {
            "all" => true,
            "kernels" => !kernel.question,
            "questions" => kernel.question,
            name => kernel.name == name,
        })
    };
    Ok(KERNELS.into_iter().filter(is_chosen).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_choose_kernels_once_and_in_order() {
        let names = |list: &[&str]| -> Vec<&str> {
            let list: Vec<String> = list.iter().map(ToString::to_string).collect();
            chosen(&list).unwrap().iter().map(|k| k.name).collect()
        };
        assert_eq!(names(&["fft", "fib", "fft"]), ["fib", "fft"]);
        assert_eq!(names(&["questions"]), ["holder", "queue", "deep", "late"]);
        assert_eq!(names(&[]).len(), 8);
        assert_eq!(names(&["all"]).len(), KERNELS.len());
        let unknown = chosen(&["sort".into()]).unwrap_err().to_string();
        assert!(
            unknown.contains("`sort`") && unknown.contains("msort"),
            "{unknown}"
        );
    }
}
