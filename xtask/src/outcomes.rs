//! Outcomes of individual tests, as cargo's test harness prints them.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};

/// Outcome (`ok`, `FAILED`, `ignored`) by test executable and test.
pub type Outcomes = BTreeMap<(String, String), String>;

/// Whether cargo found that every test passed, and each test's outcome.
pub struct TestRun {
    /// Whether every executable ran to its end and none of its tests failed.
    pub success: bool,
    /// The outcomes.
    pub outcomes: Outcomes,
}

/// Runs the tests with `cargo`. A test that fails is an outcome; a build that fails is an error.
/// `chosen` has cargo's arguments that select the executables.
pub fn outcomes(
    name: &str,
    folder: &Path,
    cargo: &mut Command,
    chosen: &[String],
) -> Result<TestRun> {
    let started = Instant::now();
    cargo
        .args(["test", "--workspace", "--no-fail-fast"])
        .args(chosen)
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", folder.join("target"))
        // This needs less building, and recording only needs lines.
        .env("CARGO_PROFILE_DEV_DEBUG", "line-tables-only")
        .env("CARGO_INCREMENTAL", "0")
        // Executables that run one test at a time print its name before its outcome, with its own
        // output in between.
        .env("RUST_TEST_THREADS", "2");
    let run = cargo.output().with_context(|| format!("{cargo:?}"))?;
    let said = String::from_utf8_lossy(&run.stderr);
    let running = said
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("Running "));
    let executables: Vec<&str> = running
        .filter_map(|line| line.rsplit_once(" (").map(|(_, path)| path))
        .map(|path| path.trim_end_matches(')'))
        .collect();
    if executables.is_empty() {
        bail!("{cargo:?}: {}: {said}", run.status);
    }
    let found = read_outcomes(&executables, &String::from_utf8_lossy(&run.stdout));
    println!(
        "{name}: {} outcomes of {} executables, built and run in {} s",
        found.len(),
        executables.len(),
        started.elapsed().as_secs()
    );
    Ok(TestRun {
        success: run.status.success(),
        outcomes: found,
    })
}

/// Reads the output of the test harnesses, one after the other; each begins with the number of its
/// tests.
fn read_outcomes(executables: &[&str], text: &str) -> Outcomes {
    let mut found = Outcomes::new();
    let mut executables = executables.iter();
    let mut current = "";
    for line in text.lines() {
        if line.starts_with("running ") && (line.ends_with(" tests") || line.ends_with(" test")) {
            current = executables.next().map_or("", |path| without_hash(path));
        }
        let test = line
            .strip_prefix("test ")
            .and_then(|rest| rest.rsplit_once(" ... "));
        if let Some((test, outcome)) = test {
            let outcome = outcome.split([',', ' ']).next().unwrap_or(outcome);
            found.insert((current.into(), test.into()), outcome.into());
        }
    }
    found
}

/// An executable's name without cargo's hash, which differs between two builds of the same test.
fn without_hash(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('-').map_or(name, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_told_apart_by_executable() {
        let text = "\nrunning 2 tests\ntest a ... ok\ntest b - should panic ... FAILED\n\ntest result: FAILED.\n\n\
                    running 1 test\ntest a ... ignored, slow\n";
        let found = read_outcomes(&["target/deps/one-0f", "target/deps/two-a-1e"], text);
        let outcome = |e: &str, t: &str| found.get(&(e.into(), t.into())).map(String::as_str);
        assert_eq!(found.len(), 3);
        assert_eq!(outcome("one", "a"), Some("ok"));
        assert_eq!(outcome("one", "b - should panic"), Some("FAILED"));
        assert_eq!(outcome("two-a", "a"), Some("ignored"));
    }
}
