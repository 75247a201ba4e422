//! The workspace's test programs, in a queue that two threads process.
//!
//! `cargo test` runs one program after the other. Running two at a time, alongside other checks,
//! uses the time in which tests wait.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::progress::Check;
use super::tally::Tally;
use crate::workspace::{cargo, output};

/// A test program that cargo built.
#[derive(Debug, PartialEq, Eq)]
struct Program {
    executable: PathBuf,
    /// The folder in which cargo would run it.
    package: PathBuf,
}

impl Program {
    /// Runs it as cargo would.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.executable);
        command
            .current_dir(&self.package)
            .env("CARGO_MANIFEST_DIR", &self.package);
        command
    }
}

/// The programs that have not begun to run.
pub struct Programs {
    waiting: Mutex<VecDeque<Program>>,
}

impl Programs {
    /// Builds all tests, and the programs that tests start.
    ///
    /// # Errors
    /// The tests do not build.
    pub fn build() -> Result<Programs> {
        let _running = Check::begin("tests are built");
        let mut build = cargo();
        // Without `--tests`, because tests start examples as programs, and `--examples` would build
        // them as tests.
        build.args(["test", "--workspace", "--no-run"]);
        build.arg("--message-format=json-render-diagnostics");
        let all = programs(&output(&mut build)?)?;
        Ok(Programs {
            waiting: Mutex::new(all.into()),
        })
    }

    /// Runs programs until none is left.
    ///
    /// # Errors
    /// A program could not be started.
    pub fn run(&self, tally: &mut Tally) -> Result<()> {
        while let Some(program) = self.next() {
            let name = program.executable.file_name().unwrap_or_default();
            let name = format!("tests: {}", name.display());
            tally.count(&name, &mut program.command(), true)?;
        }
        Ok(())
    }

    /// Runs the program `it` of the package in this folder, with arguments that the caller adds.
    ///
    /// # Errors
    /// The package has no such program.
    pub fn it(&self, package: &str) -> Result<Command> {
        let all = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let program = all.iter().find(|program| {
            let name = program.executable.file_name().unwrap_or_default();
            program.package.ends_with(package) && name.as_encoded_bytes().starts_with(b"it-")
        });
        let program = program.with_context(|| format!("{package} has no tests called `it`"))?;
        Ok(program.command())
    }

    fn next(&self) -> Option<Program> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.pop_front()
    }
}

/// The test programs among cargo's messages, in cargo's order.
fn programs(messages: &str) -> Result<Vec<Program>> {
    let mut all = Vec::new();
    for line in messages.lines().filter(|line| line.starts_with('{')) {
        let message: Value = serde_json::from_str(line)?;
        let Some(executable) = message["executable"].as_str() else {
            continue;
        };
        if message["profile"]["test"] == true {
            let manifest = message["manifest_path"].as_str().map(Path::new);
            let package = manifest.and_then(Path::parent);
            all.push(Program {
                executable: executable.into(),
                package: package.context("a program without a package")?.to_owned(),
            });
        }
    }
    if all.is_empty() {
        bail!("cargo built no tests");
    }
    // cargo reports them in the order in which they are ready. Sorting makes the order the same
    // every time; the command's programs, which take longest, come first.
    all.sort_by(|a, b| order(a).cmp(&order(b)));
    Ok(all)
}

/// A sort key that is small for programs that should begin early.
fn order(program: &Program) -> (bool, &PathBuf, &PathBuf) {
    let slow = program.package.ends_with("crates/cli");
    (!slow, &program.package, &program.executable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commands_tests_begin_and_examples_are_no_tests() {
        let message = |package: &str, name: &str, test: bool| {
            format!(
                r#"{{"manifest_path":"/w/{package}/Cargo.toml","profile":{{"test":{test}}},"executable":"/t/{name}"}}"#
            )
        };
        let text = [
            r#"{"reason":"build-script-executed","executable":null}"#.to_owned(),
            message("crates/api", "hand_made", false),
            message("crates/view", "it-1", true),
            message("crates/cli", "it-2", true),
        ];
        let all = programs(&text.join("\n")).unwrap();
        let names: Vec<_> = all.iter().map(|p| p.executable.to_str().unwrap()).collect();
        assert_eq!(names, ["/t/it-2", "/t/it-1"]);
        assert_eq!(all[1].package, Path::new("/w/crates/view"));
        let queue = Programs {
            waiting: Mutex::new(all.into()),
        };
        let of_view = queue.it("crates/view").unwrap();
        assert_eq!(of_view.get_program(), "/t/it-1");
        assert_eq!(of_view.get_current_dir(), Some(Path::new("/w/crates/view")));
        assert!(queue.it("crates/api").is_err());
        assert!(programs("").is_err());
    }
}
