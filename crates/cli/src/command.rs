//! The commands of `workspan`, and the handling of their errors.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::advise::AdviseArgs;
use crate::bandwidth::BandwidthArgs;
use crate::bench::BenchArgs;
use crate::calibrate::CalibrateArgs;
use crate::check::CheckArgs;
use crate::compare::CompareArgs;
use crate::completions::CompletionsArgs;
use crate::export::ExportArgs;
use crate::flame::FlameArgs;
use crate::help::HelpArgs;
use crate::html::HtmlArgs;
use crate::info::InfoArgs;
use crate::lake::LakeArgs;
use crate::lsp::LspArgs;
use crate::man::ManArgs;
use crate::mcp::McpArgs;
use crate::output::is_broken_pipe;
use crate::plot::PlotArgs;
use crate::record::RecordArgs;
use crate::report::ReportArgs;
use crate::say;
use crate::scale::ScaleArgs;
use crate::simulate::SimulateArgs;
use crate::sql::SqlArgs;
use crate::stretch::StretchArgs;
use crate::timeline::TimelineArgs;
use crate::view::ViewArgs;
use crate::whatif::WhatifArgs;
use crate::{
    advise, bandwidth, bench, calibrate, check, compare, completions, export, flame, help, html,
    info, lake, lsp, man, mcp, plot, record, report, scale, simulate, sql, stretch, timeline, view,
    whatif,
};

/// Maximum number of columns of help; on a narrower terminal it has the terminal's width.
pub const MAX_HELP_COLUMNS: usize = 200;

/// Shows where a task-parallel program loses its speedup, and which line to change to get it back
#[derive(Debug, Parser)]
#[command(
    name = "workspan",
    bin_name = "workspan",
    version,
    max_term_width = MAX_HELP_COLUMNS,
    disable_help_subcommand = true,
    after_help = "\
Examples:
  cargo workspan run --release -- input.txt     # build, run, record, report
  workspan record -o run.wspan -- cargo run --release -- input.txt
  workspan report run.wspan
  workspan view run.wspan                       # the timeline and the DAG, in a browser
  workspan compare before.wspan after.wspan
  workspan help span                            # what a term of the report means

Exit codes: 0 done, 1 it failed (one line says why), 2 wrong usage, 3 a limit of `check` is \
broken; `record` returns the program's own."
)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Record(RecordArgs),
    Report(ReportArgs),
    View(ViewArgs),
    Html(HtmlArgs),
    Info(InfoArgs),
    Compare(CompareArgs),
    Check(Box<CheckArgs>),
    Stretch(StretchArgs),
    Whatif(WhatifArgs),
    Advise(AdviseArgs),
    Simulate(SimulateArgs),
    Scale(ScaleArgs),
    Timeline(TimelineArgs),
    Sql(SqlArgs),
    Lake(LakeArgs),
    Plot(PlotArgs),
    Export(ExportArgs),
    Flame(FlameArgs),
    Bandwidth(BandwidthArgs),
    Calibrate(CalibrateArgs),
    Bench(BenchArgs),
    Mcp(McpArgs),
    Lsp(LspArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
    Help(HelpArgs),
}

/// `workspan`: parses the process's arguments, runs the command, and turns an error into one line
/// on stderr and exit code 1. A reader that closes the pipe early is not an error.
pub fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(code) => code,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            say!("workspan: {}", one_line(&error));
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Record(args) => return record::run(args),
        Command::Report(args) => report::run(&args)?,
        Command::View(args) => view::run(&args)?,
        Command::Html(args) => html::run(&args)?,
        Command::Info(args) => info::run(&args)?,
        Command::Compare(args) => compare::run(&args)?,
        Command::Check(args) => return check::run(&args),
        Command::Stretch(args) => stretch::run(&args)?,
        Command::Whatif(args) => whatif::run(&args)?,
        Command::Advise(args) => advise::run(&args)?,
        Command::Simulate(args) => simulate::run(&args)?,
        Command::Scale(args) => return scale::run(&args),
        Command::Timeline(args) => timeline::run(&args)?,
        Command::Sql(args) => sql::run(&args)?,
        Command::Lake(args) => return lake::run(&args),
        Command::Plot(args) => plot::run(&args)?,
        Command::Export(args) => export::run(&args)?,
        Command::Flame(args) => flame::run(&args)?,
        Command::Bandwidth(args) => bandwidth::run(&args)?,
        Command::Calibrate(args) => calibrate::run(&args)?,
        Command::Bench(args) => return bench::run(&args),
        Command::Completions(args) => completions::run(&args)?,
        Command::Man(args) => man::run(&args)?,
        Command::Mcp(args) => mcp::run(&args)?,
        Command::Lsp(args) => lsp::run(&args)?,
        Command::Help(args) => help::run(&args)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The error and its causes in one line, without characters from files that could control the
/// terminal.
pub fn one_line(error: &anyhow::Error) -> String {
    let mut line = String::new();
    for c in format!("{error:#}").chars() {
        match c {
            '\n' => line.push_str("; "),
            c if c.is_control() => line.extend(c.escape_unicode()),
            c => line.push(c),
        }
    }
    line
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
            let help = sub
                .get_after_help()
                .map(ToString::to_string)
                .unwrap_or_default();
            assert!(
                help.contains("Examples:\n  workspan "),
                "{} has no examples",
                sub.get_name()
            );
            assert!(
                sub.get_about().is_some(),
                "{} has no description",
                sub.get_name()
            );
        }
    }
}
