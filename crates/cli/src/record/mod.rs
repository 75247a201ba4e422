//! `workspan record` and `cargo workspan`: build where there is something to build, run, finalise, report.

mod args;
mod budget;
mod build_folder;
pub mod calibration;
mod cargo;
mod cargo_line;
mod child;
mod clock;
mod costs;
mod cpu_time;
mod cpu_times;
pub mod destination;
mod direct;
mod environment;
mod finalize;
mod fold;
pub mod in_library;
pub(crate) mod listed;
mod locked;
mod metadata;
mod off_cpu;
mod optimisation;
pub(crate) mod outcome;
mod program;
pub(crate) mod progress;
mod runner;
mod runs;
mod runtimes;
mod samples;
mod sanitizer;
mod signals;
pub mod steals;
mod swap;
mod told;
mod user_config;
mod watch;
mod windows;

pub use args::{CargoWorkspanArgs, RecordArgs, RecordingArgs};
pub(crate) use outcome::shown;
pub(crate) use program::find;
pub(crate) use runs::program_name;

use std::ffi::{OsStr, OsString};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};
use std::sync::Arc;

use workspan_dag::facts::THREADS_SET_BY;
use workspan_trace::entry::Note;

use crate::embedded::{RUNNER_ROLE, RUSTC_ROLE};
use cargo::Request;
use cargo_line::CargoLine;
use windows::{Length, WindowArgs, Windows};

/// When this process was started as the rustc wrapper, the target runner or to measure a runtime (by `argv[0]`), plays that role and returns
/// its exit code; must be called first in `main`.
pub fn dispatch_role() -> Option<ExitCode> {
    let name = std::env::args_os().next()?;
    let name = Path::new(&name).file_name()?;
    // A link with a name of its own where the path has a space.
    let is = |role: &str| {
        name == role
            || name
                .to_str()
                .is_some_and(|n| n.ends_with(&format!("-{role}")))
    };
    if is(RUSTC_ROLE) {
        let code = workspan_rayon::wrapper_main(std::env::args_os());
        return Some(ExitCode::from(u8::try_from(code).unwrap_or(101)));
    }
    if is(steals::ROLE) {
        return Some(in_library::main(
            std::env::args_os(),
            workspan_calibrate::steals_of,
        ));
    }
    is(RUNNER_ROLE).then(|| runner::main(std::env::args_os()))
}

/// `workspan record`: returns the exit code of the recorded program.
///
/// # Errors
/// What could not be started, built, recorded or written, and what to do.
pub fn run(args: RecordArgs) -> anyhow::Result<ExitCode> {
    let common = args.common;
    let output = checked(common.output)?;
    // What the kernel tells is written down outside, and would grow as long as the program runs.
    let no_perf = common.no_perf || common.windows.ring.is_some();
    let mut watch = watch::Watch::new(no_perf, common.sample, common.counters.as_deref())?;
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
                report: !common.no_report,
                keep_profile: common.keep_profile,
                watch,
                follow: common.follow,
                windows,
            })
        }
        _ => direct::record(&direct::Request {
            command: &args.command,
            output: output.as_deref(),
            report: !common.no_report,
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
        let told = value.parse::<watch::Sampling>();
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
            windows::some(&value)
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
        let told = value.parse::<budget::MaxOverhead>();
        told.map_err(|what| anyhow::anyhow!("--max-overhead {value}: {what}"))
    });
    let mut watch = watch::Watch::new(
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
        report: !no_report,
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

/// The key of the note with how the recorded process ended.
const EXIT_STATUS: &str = "exit status";

/// What the parent of the recorded process knows of the run.
fn facts(status: ExitStatus) -> Vec<Note> {
    let ended = match (status.code(), status.signal()) {
        (Some(code), _) => code.to_string(),
        (None, Some(signal)) => format!("killed by signal {signal}"),
        (None, None) => status.to_string(),
    };
    let mut facts = vec![
        Note::new(EXIT_STATUS, ended),
        Note::new("recorder", concat!("workspan ", env!("CARGO_PKG_VERSION"))),
    ];
    // The program inherits what we have.
    for name in ["RAYON_NUM_THREADS", "OMP_NUM_THREADS"] {
        if let Some(value) = std::env::var(name).ok().filter(|value| !value.is_empty()) {
            facts.push(Note::new(THREADS_SET_BY, format!("{name}={value}")));
        }
    }
    facts
}
