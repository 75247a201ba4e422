//! `cargo workspan`: `workspan record` for cargo's subcommands.

#![deny(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "they panic when nobody reads; `say!` and `output::print` do not"
)]

use std::process::ExitCode;

use clap::Parser;
use workspan_cli::command::MAX_HELP_COLUMNS;
use workspan_cli::record::{self, CargoWorkspanArgs};
use workspan_cli::say;

/// Builds with recording compiled in, runs, and reports where the speedup went.
#[derive(Parser)]
#[command(name = "cargo workspan", bin_name = "cargo workspan", version, max_term_width = MAX_HELP_COLUMNS)]
struct Cli {
    #[command(flatten)]
    args: CargoWorkspanArgs,
}

fn main() -> ExitCode {
    if let Some(code) = workspan_record::dispatch_role() {
        return code;
    }
    // cargo passes the subcommand's own name; run as `cargo-workspan`, it is missing.
    let mut given: Vec<_> = std::env::args_os().collect();
    if given.get(1).is_some_and(|a| a == "workspan") {
        given.remove(1);
    }
    let after_name = given.split_off(given.len().min(1));
    given.extend(record::own_flags_first(&after_name));
    match record::cargo_workspan(Cli::parse_from(given).args) {
        Ok(code) => code,
        Err(error) => {
            say!("cargo workspan: {error:#}");
            ExitCode::FAILURE
        }
    }
}
