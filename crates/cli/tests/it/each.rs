//! `--each`: a row for each test and each benchmark, whatever harness runs them.

use std::path::Path;

use crate::project::{Project, printed, said};

fn example() -> Project {
    let example = Path::new("../../../../examples/benches");
    Project::named(example.to_str().unwrap(), "benches")
}

/// Runs cargo's subcommand with `--each`; the table has these names.
fn has_rows(project: &Project, words: &[&str], names: &[&str]) {
    let mut command = project.cargo_workspan(&["--each"]);
    let output = command.args(words).output().unwrap();
    let text = said(&output);
    assert!(output.status.success(), "{}{text}", printed(&output));
    let table = text
        .split("Test or benchmark")
        .nth(1)
        .unwrap_or_else(|| panic!("{text}"));
    for name in names {
        let rows = table
            .lines()
            .filter(|line| line.starts_with(&format!("  {name} ")));
        assert_eq!(rows.count(), 1, "{name}: {text}");
    }
    assert!(
        text.contains(&format!("workspan: {} traces are in ", names.len())),
        "{text}"
    );
}

#[test]
fn each_test_has_a_row() {
    let names = ["tests::least", "tests::small"];
    has_rows(&Project::new("sorter"), &["test", "--lib"], &names);
}

#[test]
#[ignore = "builds Criterion and divan in release"]
fn each_benchmark_of_criterion_and_divan_has_a_row() {
    let tests = ["tests::divided", "tests::serial_first"];
    has_rows(&example(), &["test", "--lib"], &tests);
    let criterion = ["squares/divided", "squares/serial first"];
    has_rows(
        &example(),
        &["bench", "--bench", "with_criterion"],
        &criterion,
    );
    let divan = ["with_divan::divided", "with_divan::serial_first"];
    has_rows(&example(), &["bench", "--bench", "with_divan"], &divan);
}
