//! The commands of `workspan lake`, and the handling of their errors.

use std::process::ExitCode;

use anyhow::Context;
use clap::{Parser, Subcommand};

use crate::add::AddArgs;
use crate::check::CheckArgs;
use crate::history::HistoryArgs;
use crate::output::{is_broken_pipe, one_line};
use crate::sql::SqlArgs;
use crate::view::ViewArgs;
use crate::{add, check, history, say, sql, view};

/// Exit code if a run is outside the usual range. It is the same as that of `workspan check`.
const BROKEN: u8 = 3;

/// The outcome of a command that did not end with an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Everything succeeded.
    Done,
    /// A part failed and was reported; the other parts succeeded.
    Failed,
    /// A quantity is outside its usual range.
    Broken,
}

/// Many runs: a lake of Parquet files, and questions to all of them.
#[derive(Debug, Parser)]
#[command(
    name = "workspan-lake",
    bin_name = "workspan lake",
    version,
    max_term_width = 100,
    after_help = "\
Examples:
  workspan lake add runs/*.wspan --into ~/lake --tag commit=3f1c9a --tag branch=main
  workspan lake sql ~/lake --query commits
  workspan lake sql ~/lake \"select host, count(*) from runs group by host\"
  workspan lake history ~/lake --quantity span --plot span.svg
  workspan lake check run.wspan --baseline-lake ~/lake --last 20 --same branch=main
  workspan lake view ~/lake -o lake.html

docs/lake.md has the layout, and how DuckDB, Spark and ClickHouse read the same files.
Exit codes: 0 done, 1 it failed or a part did, 2 wrong usage, 3 a run is not as usual."
)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Add(AddArgs),
    Sql(SqlArgs),
    History(HistoryArgs),
    Check(CheckArgs),
    View(ViewArgs),
}

/// Parses the process's arguments, runs the command, and prints an error as one line to stderr. A
/// reader that closed the pipe early is not an error.
pub fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Add(args) => add::run(&args),
        Command::Sql(args) => sql::run(&args),
        Command::History(args) => history::run(&args),
        Command::Check(args) => check::run(&args),
        Command::View(args) => view::run(&args),
    };
    match done {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Failed) => ExitCode::FAILURE,
        Ok(Outcome::Broken) => ExitCode::from(BROKEN),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            say!("{}", one_line(&error));
            ExitCode::FAILURE
        }
    }
}

/// The runtime for requests to stores and for queries. It has one thread per CPU.
///
/// # Errors
/// The system can't create threads.
pub fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.enable_all().build().context("starting threads")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_tree_is_sound_and_every_command_has_examples() {
        let command = Cli::command();
        command.clone().debug_assert();
        for sub in command.get_subcommands() {
            let help = sub.get_after_help().map(ToString::to_string);
            let help = help.unwrap_or_default();
            assert!(
                help.contains("Examples:\n  workspan lake "),
                "{}",
                sub.get_name()
            );
            assert!(sub.get_about().is_some(), "{}", sub.get_name());
        }
    }
}
