//! Programs that once behaved differently when recorded: output and exit code must be those of the
//! bare run.

use std::path::Path;
use std::process::Output;

use crate::compile::Program;
use crate::run::{Outcome, ended, timed};

/// Runs the command line bare and recorded, and compares. `$RECORD` in it stands before the program
/// that is recorded.
pub fn once(tool: &Path, program: &Program, trace: &Path) -> Outcome {
    let mut outcome = Outcome::default();
    let record = format!(
        "{} record --no-report -o {} --",
        tool.display(),
        trace.display()
    );
    match (shell(&program.start, ""), shell(&program.start, &record)) {
        (Ok(bare), Ok(recorded)) => compare(&bare, &recorded, &mut outcome),
        (Err(error), _) | (_, Err(error)) => outcome.wrong.push(error.to_string()),
    }
    outcome
}

fn shell(line: &str, record: &str) -> std::io::Result<Output> {
    let mut command = timed("bash".as_ref());
    command.arg("-c").arg(line).env("RECORD", record);
    command.output()
}

fn compare(bare: &Output, recorded: &Output, outcome: &mut Outcome) {
    if ended(bare) == 124 {
        outcome.wrong.push("bare it hangs".to_string());
    }
    if ended(bare) != ended(recorded) {
        let said = String::from_utf8_lossy(&recorded.stderr);
        let last = said.lines().next_back().unwrap_or_default();
        outcome.wrong.push(format!(
            "ended with {}, bare with {}: {last}",
            ended(recorded),
            ended(bare)
        ));
    }
    if bare.stdout != recorded.stdout {
        let text = |output: &Output| {
            String::from_utf8_lossy(&output.stdout)
                .trim()
                .replace('\n', "; ")
        };
        outcome.wrong.push(format!(
            "printed `{}`, bare `{}`",
            text(recorded),
            text(bare)
        ));
    }
}
