//! The suite over Rayon prints what its serial elision in C++ prints; each program checks its
//! result, too.

use std::path::Path;

use crate::runtimes::{WORKERS, build, compiler, printed, skipped};

/// Programs whose structure an option changes, and never their result.
const OPTIONS: [&[&str]; 4] = [
    &["sort", "--input", "sorted", "--copy", "parallel"],
    &["sparselu", "--loop", "halved"],
    &["strassen", "--additions", "parallel"],
    &["bodytrack", "--overlap", "yes"],
];

#[test]
fn the_suite_over_rayon_has_the_results_of_its_serial_elision() {
    let rayon = Path::new(env!("CARGO_BIN_EXE_suite"));
    let Some(compiler) = compiler(&["g++", "clang++"]) else {
        return skipped("the suite", "neither g++ nor clang++ is there");
    };
    let folder = tempfile::tempdir().unwrap();
    let serial = build(compiler, &["-DTP_SERIAL"], "suite/suite", folder.path())
        .unwrap_or_else(|why| panic!("{compiler}: {why}"));
    assert_eq!(printed(rayon, &["list"]), printed(&serial, &["list"]));
    let expected = printed(&serial, &["all", "--size", "test"]);
    assert_eq!(expected.lines().count(), 21, "{expected}");
    for workers in WORKERS {
        let words = ["all", "--size", "test", "--workers", workers];
        assert_eq!(printed(rayon, &words), expected, "{workers} workers");
    }
    for program in OPTIONS {
        let words = [program, &["--size", "test"]].concat();
        assert_eq!(printed(rayon, &words), printed(&serial, &words));
        assert!(expected.contains(&printed(rayon, &words)) || program[0] == "sort");
    }
}
