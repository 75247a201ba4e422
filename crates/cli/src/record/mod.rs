//! `workspan record` and `cargo workspan`: build where there is something to build, run, finalise, report.

mod args;

pub use args::{CargoWorkspanArgs, RecordArgs};

use std::process::ExitCode;

/// When this process was started as the rustc wrapper or the target runner (by `argv[0]`), plays that role and returns
/// its exit code; must be called first in `main`.
pub fn dispatch_role() -> Option<ExitCode> {
    None
}

/// `workspan record`: returns the exit code of the recorded program.
///
/// # Errors
/// What could not be started, built, recorded or written, and what to do.
pub fn run(args: RecordArgs) -> anyhow::Result<ExitCode> {
    let _ = args;
    anyhow::bail!("not there yet")
}

/// `cargo workspan`: returns cargo's exit code, which for `run` is the program's.
///
/// # Errors
/// As [`run`].
pub fn cargo_workspan(args: CargoWorkspanArgs) -> anyhow::Result<ExitCode> {
    let _ = args;
    anyhow::bail!("not there yet")
}
