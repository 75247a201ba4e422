//! `workspan record` and `cargo workspan`: flags of the recording engine (`crates/record`).

mod args;

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use workspan_record::after_run::PrintReport;
use workspan_record::cargo::command_line::CargoLine;
use workspan_record::cargo::{self, Request};
use workspan_record::options::keep_windows::{self, Length, WindowArgs, Windows};
use workspan_record::options::max_overhead;
use workspan_record::options::settings::{Sampling, Watch};
use workspan_record::program;
use workspan_record::trace_file::destination;

pub use args::{CargoWorkspanArgs, RecordArgs, RecordingArgs};

/// `workspan record`: returns the exit code of the recorded program.
///
/// # Errors
/// What could not be started, built, recorded or written, and what to do.
pub fn run(args: RecordArgs) -> anyhow::Result<ExitCode> {
    let common = args.common;
    let output = checked(common.output)?;
    // What the kernel tells is written down outside, and would grow as long as the program runs.
    let no_perf = common.no_perf || common.windows.ring.is_some();
    let mut watch = Watch::new(no_perf, common.sample, common.counters.as_deref())?;
    watch.fold = common.fold;
    let windows = Arc::new(Windows::new(common.windows));
    watch.max_overhead = common.max_overhead;
    match args.command.split_first() {
        Some((program, rest)) if Path::new(program).file_name() == Some(OsStr::new("cargo")) => {
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
                follow: common.follow,
                windows,
            })
        }
        _ => program::record(&program::Request {
            command: &args.command,
            output: output.as_deref(),
            report: printer(common.no_report),
            watch,
            follow: common.follow,
            windows,
            swap_runtime: args.swap_runtime,
        }),
    }
}

/// `cargo workspan`: returns cargo's exit code, which for `run` is the program's.
///
/// # Errors
/// As [`run`].
pub fn cargo_workspan(args: CargoWorkspanArgs) -> anyhow::Result<ExitCode> {
    let (mut line, args) = (CargoLine::parse(&args.cargo), args.common);
    let keep_profile = line.take_flag("--keep-profile") || args.keep_profile;
    let sample = line.take("--sample").map(|value| {
        let value = value.to_string_lossy();
        let told = value.parse::<Sampling>();
        told.map_err(|what| anyhow::anyhow!("--sample {value}: {what}"))
    });
    let counters = line
        .take("--counters")
        .and_then(|value| value.into_string().ok());
    let mut window = |name: &str, given: Option<Length>| -> anyhow::Result<Option<Length>> {
        let Some(value) = line.take(name) else {
            return Ok(given);
        };
        let value = value.to_string_lossy();
        // A delay of no time keeps all.
        let told = if name == "--delay" {
            value.parse::<Length>()
        } else {
            keep_windows::some(&value)
        };
        told.map(Some)
            .map_err(|what| anyhow::anyhow!("{name} {value}: {what}"))
    };
    let windows = WindowArgs {
        delay: window("--delay", args.windows.delay)?,
        duration: window("--duration", args.windows.duration)?,
        ring: window("--ring", args.windows.ring)?,
    };
    if windows.ring.is_some() && (windows.delay.is_some() || windows.duration.is_some()) {
        anyhow::bail!("--ring keeps the end of a run; it goes with neither --delay nor --duration");
    }
    let max_overhead = line.take("--max-overhead").map(|value| {
        let value = value.to_string_lossy();
        let told = value.parse::<max_overhead::MaxOverhead>();
        told.map_err(|what| anyhow::anyhow!("--max-overhead {value}: {what}"))
    });
    let mut watch = Watch::new(
        line.take_flag("--no-perf") || args.no_perf || windows.ring.is_some(),
        sample.transpose()?.or(args.sample),
        counters.or(args.counters).as_deref(),
    )?;
    watch.max_overhead = max_overhead.transpose()?.or(args.max_overhead);
    watch.fold = args.fold.take(&mut line)?;
    let no_report = line.take_flag("--no-report") || args.no_report;
    let follow = line.take_flag("--follow") || args.follow;
    let given = [line.take("--output"), line.take("-o")]
        .into_iter()
        .flatten()
        .next();
    let output = checked(given.map(PathBuf::from).or(args.output))?;
    // cargo says which one called us; a toolchain given to us is for the one in PATH to choose.
    let cargo = std::env::var_os("CARGO").filter(|_| line.toolchain.is_none());
    cargo::record(Request {
        cargo: cargo.unwrap_or_else(|| OsString::from("cargo")),
        line,
        output,
        report: printer(no_report),
        keep_profile,
        watch,
        follow,
        windows: Arc::new(Windows::new(windows)),
    })
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
