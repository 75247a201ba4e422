//! `workspan record` and `cargo workspan`: flags of the recording engine (`crates/record`).

mod args;

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use workspan_record::cargo::command_line::CargoLine;
use workspan_record::cargo::{self, Request};
use workspan_record::lake::{Lake, ROOT};
use workspan_record::options::keep_windows::{Length, Windows};
use workspan_record::options::processes::ProcessHandling;
use workspan_record::options::settings::Watch;
use workspan_record::outcome::{PrintReport, PrintTable};
use workspan_record::program;
use workspan_record::trace_file::destination;

pub use args::{CargoWorkspanArgs, RecordArgs, RecordingArgs, own_flags_first};

/// `workspan record`: returns the exit code of the recorded program.
///
/// # Errors
/// The program could not be started, built or recorded, or a file could not be written; the message
/// has the remedy.
pub fn run(args: RecordArgs) -> anyhow::Result<ExitCode> {
    let common = args.common;
    let watch = watch(&common)?;
    let output = checked(common.output)?;
    let windows = Arc::new(Windows::with_triggers(common.windows, args.triggers));
    match args.command.split_first() {
        Some((program, rest)) if Path::new(program).file_name() == Some(OsStr::new("cargo")) => {
            if windows.is_triggered() {
                anyhow::bail!(
                    "--on-signal and the other triggers need a program that is already built; name it instead of a cargo command"
                );
            }
            if args.swap_runtime {
                anyhow::bail!(
                    "--swap-runtime is for a program that is built already: give it instead of a cargo command"
                );
            }
            let mut line = CargoLine::parse(rest);
            // `workspan record -- cargo workspan run` means the same as without.
            if line.subcommand_name() == Some("workspan") {
                line.own.remove(line.subcommand.unwrap_or_default());
                line = CargoLine::parse(&line.arguments().cloned().collect::<Vec<_>>());
            }
            cargo::record(Request {
                cargo: program.clone(),
                line,
                output,
                report: printer(common.no_report),
                keep_profile: common.keep_profile,
                watch,
                each: table(common.each),
                follow: common.follow,
                windows,
            })
        }
        _ if common.each => anyhow::bail!(
            "--each is for cargo's test and bench: `workspan record --each -- cargo test`"
        ),
        _ => program::record(&program::Request {
            command: &args.command,
            output: output.as_deref(),
            report: printer(common.no_report),
            watch,
            followed: ProcessHandling::new(common.follow, args.processes, &args.command),
            windows,
            swap_runtime: args.swap_runtime,
        }),
    }
}

/// `cargo workspan`: returns cargo's exit code, which for `run` is the program's.
///
/// # Errors
/// See [`run`].
pub fn cargo_workspan(args: CargoWorkspanArgs) -> anyhow::Result<ExitCode> {
    let common = args.common;
    let line = CargoLine::parse(&args.cargo);
    let watch = watch(&common)?;
    let output = checked(common.output)?;
    // cargo sets the cargo that called us; if we were given a toolchain, the cargo in PATH must
    // choose it.
    let cargo = std::env::var_os("CARGO").filter(|_| line.toolchain.is_none());
    cargo::record(Request {
        cargo: cargo.unwrap_or_else(|| OsString::from("cargo")),
        line,
        output,
        report: printer(common.no_report),
        keep_profile: common.keep_profile,
        watch,
        each: table(common.each),
        follow: common.follow,
        windows: Arc::new(Windows::new(common.windows)),
    })
}

fn watch(args: &RecordingArgs) -> anyhow::Result<Watch> {
    // The kernel's events go to a separate file, which would grow as long as the program runs.
    let no_perf = args.no_perf || args.windows.ring.is_some();
    let mut watch = Watch::new(no_perf, args.sample, args.counters.as_deref())?;
    if args.count.is_some() {
        watch.count_instructions()?;
    }
    watch.max_overhead = args.max_overhead;
    watch.stall = args.stall.map(Length::duration);
    watch.fold = args.fold.clone();
    let lake = args.lake.clone();
    let lake = lake.or_else(|| std::env::var_os(ROOT).filter(|root| !root.is_empty()));
    if lake.is_none() && !args.tag.is_empty() {
        anyhow::bail!("--tag is for --lake ROOT, the lake that the run is added to");
    }
    let lake = lake.map(|root| Lake::new(root, args.tag.clone()));
    watch.lake = lake.transpose()?;
    Ok(watch)
}

fn checked(output: Option<PathBuf>) -> anyhow::Result<Option<PathBuf>> {
    if let Some(output) = &output {
        destination::check_output(output)?;
    }
    Ok(output)
}

/// Prints the report to stderr, unless `--no-report` was given.
fn printer(no_report: bool) -> Option<PrintReport> {
    (!no_report).then_some(|trace: &Path| crate::report::print_for(trace, &mut io::stderr()))
}

/// Prints the table of `--each`.
fn table(each: bool) -> Option<PrintTable> {
    each.then_some(crate::each::print_table as PrintTable)
}
