//! Runs `workspan-lake` as a user does, over traces in the repository.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod add;
mod cluster;
mod damage;
mod engines;
mod history;
mod killed;
mod object_store;
mod recorded;
mod sqlite;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Text traces with tasks at several sites, steals, regions, counters and times off the CPU.
const TRACES: [&str; 5] = [
    "example_a.jsonl",
    "balanced.jsonl",
    "buried.jsonl",
    "counters_and_off.jsonl",
    "serial_merge.jsonl",
];

/// Runs `workspan-lake`.
fn lake(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_workspan-lake"));
    command.args(arguments).output().unwrap()
}

/// The output of a command that succeeds.
fn printed(arguments: &[&str]) -> String {
    let output = lake(arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

/// The rows of a query, as CSV without the header.
fn rows(root: &Path, query: &str) -> Vec<String> {
    let text = printed(&["sql", root.to_str().unwrap(), query, "--format", "csv"]);
    text.lines()
        .skip(1)
        .map(|line| line.trim_end().to_owned())
        .collect()
}

fn golden(name: &str) -> PathBuf {
    let folder = "../crates/export/tests/golden";
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(folder)
        .join(name)
}

/// `n` different traces in `folder`: those of the repository, repeated under other names.
fn traces(folder: &Path, n: usize) -> Vec<PathBuf> {
    std::fs::create_dir_all(folder).unwrap();
    let made = (0..n).map(|i| {
        let text = std::fs::read_to_string(golden(TRACES[i % TRACES.len()])).unwrap();
        let path = folder.join(format!("run-{i}.jsonl"));
        // A run is identified by the bytes of its trace. A line break makes it another run, and
        // changes nothing else.
        std::fs::write(&path, format!("{}{}", text.trim_end(), "\n".repeat(i + 1))).unwrap();
        path
    });
    made.collect()
}

/// Adds traces, with the further arguments `more`.
fn add(root: &Path, traces: &[PathBuf], more: &[&str]) {
    let mut arguments = vec!["add", "--into", root.to_str().unwrap()];
    arguments.extend(more);
    arguments.extend(traces.iter().map(|trace| trace.to_str().unwrap()));
    printed(&arguments);
}

/// All files below a folder, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
