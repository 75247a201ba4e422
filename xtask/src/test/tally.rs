//! The outcomes of the checks, and how long they took.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::progress::{self, Check};
use crate::dependencies::Outcome;
use crate::workspace::cargo;

/// Maximum number of failed tests that are run once more.
const MAX_RERUN_TESTS: usize = 6;

/// The outcomes of the stages, one after the other.
pub struct Tally {
    pub passed: usize,
    pub failed: Vec<String>,
    pub skipped: Vec<String>,
    /// Tests that failed while others ran, but passed alone afterwards.
    pub flaky: Vec<String>,
    /// Failed tests of cargo's harness, which can be run again by name.
    failed_tests: Vec<String>,
    /// The time of each stage.
    took: Vec<(&'static str, Duration)>,
    /// The time of each stage that ran at the same time as others.
    took_beside: Vec<(&'static str, Duration)>,
    /// When the current stage began.
    began: Instant,
}

impl Tally {
    /// An empty tally; the first stage begins now.
    pub fn new() -> Tally {
        Tally {
            passed: 0,
            failed: Vec::new(),
            skipped: Vec::new(),
            flaky: Vec::new(),
            failed_tests: Vec::new(),
            took: Vec::new(),
            took_beside: Vec::new(),
            began: Instant::now(),
        }
    }

    /// Ends the current stage; the next one begins now.
    pub fn stage(&mut self, name: &'static str) {
        self.took.push((name, self.began.elapsed()));
        self.began = Instant::now();
    }

    /// Adds the outcomes of checks that ran at the same time.
    pub fn add_concurrent(&mut self, other: Tally) {
        self.passed += other.passed;
        self.failed.extend(other.failed);
        self.skipped.extend(other.skipped);
        self.flaky.extend(other.flaky);
        self.failed_tests.extend(other.failed_tests);
        self.took_beside.extend(other.took);
    }

    /// Number of checks and tests that have failed.
    pub fn all_failed(&self) -> usize {
        self.failed.len() + self.failed_tests.len()
    }

    /// Adds the outcome of a single named check.
    pub fn outcome(&mut self, name: &str, came_out: Outcome) {
        match came_out {
            Outcome::Fine => self.passed += 1,
            Outcome::Wrong(how) => self.failed.push(format!("{name}: {how}")),
            Outcome::Skipped(why) => self.skipped.push(format!("{name}: {why}")),
        }
    }

    /// A check that passes or fails as a whole.
    ///
    /// # Errors
    /// The check could not be started.
    pub fn check(&mut self, name: &str, command: &mut Command) -> Result<()> {
        let _running = Check::begin(name);
        let status = command.status().with_context(|| format!("{command:?}"))?;
        if status.success() {
            self.passed += 1
        } else {
            self.failed.push(name.to_string())
        }
        Ok(())
    }

    /// Runs cargo's test harness, and counts its tests individually. Ignored tests count as
    /// skipped, unless they run `later`.
    ///
    /// # Errors
    /// The tests could not be started, or their output is not UTF-8.
    pub fn count(&mut self, name: &str, command: &mut Command, later: bool) -> Result<()> {
        let _running = Check::begin(name);
        let mut child = command
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{command:?}"))?;
        let failed_before = self.failed_tests.len();
        if let Some(out) = child.stdout.take() {
            for line in BufReader::new(out).lines() {
                self.line(&line?, later);
            }
        }
        let status = child.wait()?;
        if !status.success() && self.failed_tests.len() == failed_before {
            self.failed.push(format!("{name} ({status})"));
        }
        Ok(())
    }

    /// Runs the failed tests of cargo's harness once more, each by itself on an otherwise idle
    /// machine. A test that passes now is listed as flaky instead of failed. More than
    /// [`MAX_RERUN_TESTS`] failures are not accidental and stay as they are.
    ///
    /// # Errors
    /// A test could not be started.
    pub fn rerun_failed(&mut self) -> Result<()> {
        let mut failed = std::mem::take(&mut self.failed_tests);
        failed.sort();
        failed.dedup();
        if failed.len() > MAX_RERUN_TESTS {
            self.failed.extend(failed);
            return Ok(());
        }
        for test in failed {
            println!("== {test}, once more and alone");
            let mut again = cargo();
            again.args(["test", "--workspace", "--tests", "--no-fail-fast", "--"]);
            again.args(["--exact", "--include-ignored", &test]);
            let again = again.output().with_context(|| format!("{again:?}"))?;
            let printed = String::from_utf8_lossy(&again.stdout);
            // A name that no binary contains, such as a doctest's, runs nothing and succeeds.
            if again.status.success() && tests_passed(&printed) > 0 {
                self.passed += 1;
                self.flaky.push(test);
            } else {
                print!("{printed}");
                self.failed.push(test);
            }
        }
        Ok(())
    }

    /// Reads a line of the test harness.
    fn line(&mut self, line: &str, later: bool) {
        let outcome = line
            .strip_prefix("test ")
            .and_then(|rest| rest.rsplit_once(" ... "));
        match outcome {
            Some((_, "ok")) => {
                self.passed += 1;
                progress::passed();
                return;
            }
            Some((test, "FAILED")) => self.failed_tests.push(test.to_string()),
            Some((test, why)) if why.starts_with("ignored") && !later => {
                self.skipped.push(test.to_string())
            }
            _ => {}
        }
        if let Some(why) = line.strip_prefix("skipped: ") {
            self.skipped.push(why.to_string());
        }
        let dull =
            line.is_empty() || line.starts_with("running ") || line.starts_with("test result: ok");
        if !dull {
            println!("{line}");
        }
    }

    /// Prints all outcomes, ending with a one-line summary.
    ///
    /// # Errors
    /// Something failed.
    pub fn sum_up(&self, started: Instant) -> Result<()> {
        for name in &self.skipped {
            println!("skipped: {name}");
        }
        for (words, stages) in [("", &self.took), ("beside them: ", &self.took_beside)] {
            let stages = stages
                .iter()
                .map(|(name, took)| format!("{name} {} s", took.as_secs()));
            let stages: Vec<String> = stages.collect();
            if !stages.is_empty() {
                println!("{words}{}", stages.join(", "));
            }
        }
        // After the long list of skipped tests, so that the end of a log shows them.
        for name in &self.flaky {
            println!("flaky: {name} failed beside other tests and passed alone");
        }
        for name in self.failed.iter().chain(&self.failed_tests) {
            println!("failed: {name}");
        }
        println!(
            "{} passed, {} failed, {} skipped ({} s)",
            self.passed,
            self.all_failed(),
            self.skipped.len(),
            started.elapsed().as_secs()
        );
        if self.all_failed() == 0 {
            Ok(())
        } else {
            bail!("not everything passed")
        }
    }
}

/// The number of tests that passed, from what cargo's harness printed.
fn tests_passed(printed: &str) -> usize {
    let lines = printed.lines();
    lines
        .filter(|line| line.starts_with("test ") && line.ends_with(" ... ok"))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_no_tests_is_no_pass() {
        let none = "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored";
        assert_eq!(tests_passed(none), 0);
        assert_eq!(tests_passed(&format!("{none}\ntest a::b ... ok\n")), 1);
        assert_eq!(tests_passed("test a::b ... FAILED\n"), 0);
    }

    #[test]
    fn each_test_is_counted_once_and_what_was_left_out_is_named() {
        let mut tally = Tally::new();
        for line in [
            "running 4 tests",
            "test a::one ... ok",
            "test b ... FAILED",
            "test c ... ignored, slow",
            "skipped: d: no compiler",
            "test result: ok. 1 passed",
        ] {
            tally.line(line, false);
        }
        tally.line("test c ... ignored, slow", true);
        assert_eq!(tally.passed, 1);
        assert_eq!(tally.failed_tests, ["b"]);
        assert_eq!(tally.skipped, ["c", "d: no compiler"]);
        let mut all = Tally::new();
        all.add_concurrent(tally);
        assert!(all.sum_up(Instant::now()).is_err());
    }
}
