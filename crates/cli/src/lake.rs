//! `workspan lake`: starts the program `workspan-lake`.

use std::ffi::{OsStr, OsString};
use std::process::{Command, ExitCode};

use anyhow::Context;
use clap::CommandFactory;
use workspan_record::lake::{INSTALL, program};

use crate::command::Cli;
use crate::output::print;

/// Keeps many runs as Parquet files: queries all of them in SQL, and compares a run with what is
/// usual
#[derive(Debug, Clone, clap::Args)]
#[command(
    disable_help_flag = true,
    long_about = "Keeps many runs as Parquet files: queries all of them in SQL, and compares a run with what is usual.

This starts the separate program `workspan-lake`, found next to `workspan` or in PATH. `cargo install \
workspan-lake` installs it. `workspan lake --help` lists its commands, and docs/lake.md is a tour.",
    after_help = "\
Examples:
  workspan lake add runs/*.wspan --into ~/lake --tag commit=3f1c9a --tag branch=main
  workspan lake sql ~/lake --query commits
  workspan lake sql ~/lake \"select host, avg(parallelism) from runs group by host\"
  workspan lake history ~/lake --quantity span --plot span.svg
  workspan lake check run.wspan --baseline-lake ~/lake --last 20 --same branch=main"
)]
pub struct LakeArgs {
    /// The command and flags for `workspan-lake`
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGUMENTS"
    )]
    arguments: Vec<OsString>,
}

/// `workspan lake`: returns the program's exit code.
///
/// # Errors
/// `workspan-lake` is not installed, or cannot be started.
pub fn run(args: &LakeArgs) -> anyhow::Result<ExitCode> {
    let asks_for_help = ["--help", "-h", "help"].map(OsStr::new);
    match start(&args.arguments) {
        Err(error)
            if args
                .arguments
                .iter()
                .any(|a| asks_for_help.contains(&a.as_os_str())) =>
        {
            let mut command = Cli::command();
            let own = command.find_subcommand_mut("lake").context("its help")?;
            let own = own.clone().bin_name("workspan lake").render_long_help();
            print(&format!("{own}\n\n{error}\n"))?;
            Ok(ExitCode::SUCCESS)
        }
        other => other,
    }
}

/// Starts `workspan-lake` with these arguments, and waits for its end.
///
/// # Errors
/// See [`run`].
pub fn start(arguments: &[OsString]) -> anyhow::Result<ExitCode> {
    let program = program()?;
    let status = Command::new(&program).args(arguments).status();
    let status = status.with_context(|| format!("{}: {INSTALL}", program.display()))?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}
