//! `workspan bench`: measurements with programs that are part of the tool.

mod build;
mod csv;
pub mod folder;
pub mod kernels;
pub mod measure;
mod picture;
mod rayon;
pub mod result;
pub mod runtime;
pub mod runtimes;
mod suite;
mod table;
mod verdict;

use std::process::ExitCode;

pub use runtimes::RuntimesArgs;
pub(crate) use runtimes::writable;
pub use suite::SuiteArgs;

/// Compares the task runtimes on this machine by running the same programs on each
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  workspan bench runtimes
  workspan bench suite --size test
  workspan bench runtimes --help      # kernels, and what is built how")]
pub struct BenchArgs {
    #[command(subcommand)]
    what: BenchCommand,
}

#[derive(Debug, Clone, clap::Subcommand)]
enum BenchCommand {
    Runtimes(RuntimesArgs),
    Suite(SuiteArgs),
}

/// `workspan bench`.
///
/// # Errors
/// A kernel or its runtime can't be built or run, two runs print different results, or a file can't
/// be written.
pub fn run(args: &BenchArgs) -> anyhow::Result<ExitCode> {
    match &args.what {
        BenchCommand::Runtimes(args) => runtimes::run(args),
        BenchCommand::Suite(args) => suite::run(args),
    }
}
