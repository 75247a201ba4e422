//! The rustc wrapper, which cargo calls in place of rustc.

use crate::environment;
use crate::invocation::Invocation;
use crate::profile;
use crate::stand_in::{self, RayonCore};
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::process::{Command, ExitStatus};

/// Runs as `RUSTC_WRAPPER`. `args` is the whole command line: our own name, the path of rustc or of
/// the workspace wrapper, then rustc's arguments. Returns the exit code.
pub fn wrapper_main(args: impl IntoIterator<Item = OsString>) -> i32 {
    let mut args = args.into_iter().skip(1);
    let Some(program) = args.next() else {
        say(
            "workspan-rustc: expected the path of rustc and its arguments; `cargo workspan` sets this up as RUSTC_WRAPPER",
        );
        return 2;
    };
    let call = Invocation::new(args.collect());
    let result = match stand_in::recognise(&call) {
        RayonCore::Replace { version, stand_in } => {
            stand_in::compile(&program, call, &version, &stand_in)
        }
        RayonCore::No => run(&program, &with_profile(call)).map(exit_code),
    };
    result.unwrap_or_else(|error| {
        say(&format!(
            "workspan-rustc: could not run {}: {error}",
            program.to_string_lossy()
        ));
        101
    })
}

/// Like `eprintln!`, but does not panic if stderr cannot be written.
fn say(line: &str) {
    let _ = std::io::stderr().write_all(format!("{line}\n").as_bytes());
}

/// The call with line tables ([`profile::additions`]).
pub(crate) fn with_profile(call: Invocation) -> Invocation {
    let more = profile::additions(&call);
    call.with(more)
}

/// The command that runs rustc with these arguments, through the user's own wrapper if there is
/// one.
pub(crate) fn command(program: &OsStr, call: &Invocation) -> Command {
    let user = std::env::var_os(environment::USER_WRAPPER).filter(|value| !value.is_empty());
    let mut command = match user {
        Some(user) => {
            let mut command = Command::new(user);
            command.arg(program);
            command
        }
        None => Command::new(program),
    };
    command.args(call.arguments());
    command
}

/// Runs rustc with our own standard streams.
pub(crate) fn run(program: &OsStr, call: &Invocation) -> std::io::Result<ExitStatus> {
    command(program, call).status()
}

/// The exit code to pass on. A compiler killed by a signal gets 101, as rustc's own internal errors
/// do.
pub(crate) fn exit_code(status: ExitStatus) -> i32 {
    status.code().unwrap_or(101)
}
