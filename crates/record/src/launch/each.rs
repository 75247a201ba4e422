//! Runs each test or benchmark of a program in a process of its own, so that each has its own trace
//! (`--each`). The program's harness lists their names, and runs one of them with `--exact`.
//! libtest, Criterion and divan support both.

use std::ffi::{OsStr, OsString};
use std::process::{Command, ExitCode, Stdio};

use crate::launch::environment::{self, EACH, USER_RUNNER};
use crate::say;

/// Precedes the name of the test or benchmark on a process's command line.
pub const EXACT: &str = "--exact";
/// The kinds of entries in the harnesses' lists.
const KINDS: [&str; 3] = ["test", "bench", "benchmark"];

/// Runs `program` once for each name that it lists, each through the runner `own`. Returns the
/// first exit code that is not success. `None` if the program lists fewer than two names, so that
/// it can run as it is.
pub(crate) fn run(own: &OsStr, program: &OsStr, arguments: &[OsString]) -> Option<ExitCode> {
    let names = names(program, arguments)?;
    let mut first_failure = None;
    for name in names {
        let mut one = Command::new(own);
        one.arg(program).args(arguments).args([EXACT, &name]);
        match one.env_remove(EACH).status() {
            Ok(status) if status.success() => {}
            Ok(status) => {
                let code = status.code().and_then(|code| u8::try_from(code).ok());
                first_failure = first_failure.or(Some(code.unwrap_or(1)));
            }
            Err(error) => {
                say!("workspan: {name} could not be started: {error}");
                first_failure = first_failure.or(Some(1));
            }
        }
    }
    Some(first_failure.map_or(ExitCode::SUCCESS, ExitCode::from))
}

/// The names that the program's harness lists for these arguments.
fn names(program: &OsStr, arguments: &[OsString]) -> Option<Vec<String>> {
    let user = std::env::var_os(USER_RUNNER)
        .map(|value| environment::split(&value))
        .unwrap_or_default();
    let program = [program.to_owned()];
    let mut words = user.iter().chain(&program).chain(arguments);
    let mut list = Command::new(words.next()?);
    list.args(words).args(["--list", "--format", "terse"]);
    environment::restore(&mut list);
    // divan lists its names only for cargo-nextest.
    let output = list
        .env("NEXTEST", "1")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let names = listed(&String::from_utf8_lossy(&output.stdout));
    (output.status.success() && names.len() > 1).then_some(names)
}

/// The names in lines like `sort::small: test`. Lines of another form are ignored.
fn listed(text: &str) -> Vec<String> {
    let name = |line: &str| {
        let (name, kind) = line.rsplit_once(": ")?;
        KINDS.contains(&kind.trim()).then(|| name.to_owned())
    };
    text.lines().filter_map(name).collect()
}

/// The test or benchmark that a process of `run` was for, from its command line, whose words are
/// quoted as for a shell.
pub fn name_of(command: &str) -> Option<String> {
    let (_, name) = command.rsplit_once(&format!(" {EXACT} "))?;
    let inside = name.strip_prefix('\'').and_then(|n| n.strip_suffix('\''));
    Some(inside.map_or_else(|| name.to_owned(), |inside| inside.replace("'\\''", "'")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_the_three_harnesses_are_read() {
        let text = "sort::small: test\nsort/4096: benchmark\nsum: bench\n\n2 tests, 0 benchmarks\n";
        assert_eq!(listed(text), ["sort::small", "sort/4096", "sum"]);
        let of = |command: &str| name_of(command).unwrap_or_default();
        assert_eq!(of("target/t-1 --bench --exact sort/4096"), "sort/4096");
        assert_eq!(of("t-1 --exact 'it'\\''s so'"), "it's so");
        assert_eq!(name_of("target/t-1 --bench"), None);
    }
}
