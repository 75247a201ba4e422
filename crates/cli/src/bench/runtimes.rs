//! `workspan bench runtimes`: the same kernels on every task runtime this machine has.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, bail};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use super::build::Builder;
use super::folder::RunFolder;
use super::kernels::{self, Kernel};
use super::measure::{Plan, Variant, measure};
use super::result::Comparison;
use super::runtime::{RUNTIMES, Runtime, toolchain};
use super::{csv, picture, rayon, table};
use crate::output::print;
use crate::say;
use workspan_record::embedded;

/// Runs the same kernels on every task runtime on this machine, and explains the differences
#[derive(Debug, Clone, clap::Args)]
#[command(
    long_about = "Runs the same kernels on every task runtime on this machine, and explains the differences.

The sources are in the tool: Rust for Rayon, which cargo builds, and C++ for LLVM OpenMP (clang++), GNU OpenMP \
and oneTBB (g++) and for the serial elision that speedups are measured against. What is missing is named. \
Programs are built once and kept in the user's cache; every variant runs bare and recorded, all of them in \
turns.",
    after_help = "\
Examples:
  workspan bench runtimes
  workspan bench runtimes --kernels fib,sparselu --workers 1,2,4 --repeat 7
  workspan bench runtimes --kernels questions --csv runtimes.csv --svg runtimes.svg

Kernels: fib, nqueens, msort, matmul, sparselu, treesum, align, fft; and one program for each question of
Huynh's thesis: holder, queue, deep, late. `kernels` is the former, `questions` the latter, `all` both."
)]
pub struct RuntimesArgs {
    /// Kernels, separated by commas
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        default_value = "kernels"
    )]
    kernels: Vec<String>,
    /// Runtimes, separated by commas: serial, rayon, libomp, libgomp, onetbb (default: all that are
    /// here)
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    runtimes: Vec<String>,
    /// Numbers of workers, separated by commas (default: as many as CPUs)
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..=1024))]
    workers: Vec<u16>,
    /// Runs of each variant
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=1000))]
    repeat: u16,
    /// Run bare only
    #[arg(long)]
    no_record: bool,
    /// Write every number to this file, as comma-separated values
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Draw where the time went, to this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// `workspan bench runtimes`.
///
/// # Errors
/// An unknown name, no runtime at all, or a file that can't be written.
pub fn run(args: &RuntimesArgs) -> anyhow::Result<ExitCode> {
    let kernels = kernels::chosen(&args.kernels)?;
    let chosen = selected(&args.runtimes)?;
    for file in [&args.csv, &args.svg].into_iter().flatten() {
        writable(file)?;
    }
    let stop = stop_flag()?;
    let stopped = || stop.load(Ordering::Relaxed);
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let mut comparison = Comparison {
        repeat: usize::from(args.repeat),
        cpus,
        ..Comparison::default()
    };
    let folder = embedded::unpack(None)?.folder.join("bench");
    let runs = RunFolder::below(&folder)?;
    let progress = Progress::new();
    let programs = prepare(
        &kernels,
        &chosen,
        (&folder, &runs),
        &mut comparison,
        &progress,
        &stopped,
    )?;
    if stopped() {
        return Ok(interrupted());
    }
    // Read after building is over, because that is not load by others.
    comparison.load = load().filter(|_| programs.iter().all(|p| !p.is_empty()));
    if comparison.load.is_some_and(|load| load > 0.5 * cpus as f64) {
        let warning = "the machine was busy before the measurement began, so other programs may have affected the times and their order";
        comparison.warnings.push(format!("{warning}."));
    }
    let workers: Vec<usize> = match args.workers.as_slice() {
        [] => vec![cpus],
        given => given.iter().map(|&w| usize::from(w)).collect(),
    };
    if workers.iter().any(|&w| w > cpus) {
        comparison.warnings.push(format!(
            "more workers were requested than the {cpus} CPUs of this machine."
        ));
    }
    let steps = kernels.len() * workers.len();
    for (i, (kernel, variants)) in kernels.iter().zip(&programs).enumerate() {
        for (j, &workers_now) in workers.iter().enumerate() {
            let step = i * workers.len() + j + 1;
            progress.say(&format!(
                "{step} of {steps}: {}, {workers_now} workers",
                kernel.name
            ));
            let plan = Plan {
                kernel: *kernel,
                workers: workers_now,
                repeat: comparison.repeat,
                record: !args.no_record,
                folder: &runs.path,
                stop: &stopped,
            };
            let mut warnings = Vec::new();
            match measure(&plan, variants, &mut warnings) {
                Some(group) => comparison.groups.push(group),
                None => {
                    progress.clear();
                    return Ok(interrupted());
                }
            }
            comparison.warnings.extend(warnings);
        }
    }
    progress.clear();
    drop(runs);
    if let Some(file) = &args.csv {
        std::fs::write(file, csv::csv(&comparison)).with_context(|| file.display().to_string())?;
    }
    if let Some(file) = &args.svg {
        std::fs::write(file, picture::svg(&comparison))
            .with_context(|| file.display().to_string())?;
    }
    print(&table::text(&comparison))?;
    Ok(ExitCode::SUCCESS)
}

/// The runtimes with these names; all if `names` is empty.
///
/// # Errors
/// A name is not a runtime's.
pub fn selected(names: &[String]) -> anyhow::Result<Vec<Runtime>> {
    for name in names {
        if RUNTIMES.iter().all(|r| r.name() != name) {
            let known: Vec<&str> = RUNTIMES.iter().map(|r| r.name()).collect();
            bail!("no runtime `{name}`; there are {}", known.join(", "));
        }
    }
    let is_wanted =
        |runtime: &Runtime| names.is_empty() || names.iter().any(|n| n == runtime.name());
    Ok(RUNTIMES.into_iter().filter(is_wanted).collect())
}

/// Checks the file before minutes of measuring instead of after them.
pub(crate) fn writable(file: &Path) -> anyhow::Result<()> {
    let there = file.exists();
    std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(file)
        .with_context(|| format!("{}: can't be written", file.display()))?;
    if !there {
        // The file was empty and ours.
        let _ = std::fs::remove_file(file);
    }
    Ok(())
}

/// A flag that Ctrl-C and similar signals set; a second one ends the process at once.
pub(super) fn stop_flag() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        flag::register_conditional_shutdown(signal, 130, Arc::clone(&stop))?;
        flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}

/// Says that Ctrl-C ended the measurement. Returns the exit code for that.
pub fn interrupted() -> ExitCode {
    say!("workspan: interrupted; nothing was written");
    ExitCode::from(130)
}

/// Finds the runtimes and builds their programs: for each kernel its variants.
pub fn prepare(
    kernels: &[Kernel],
    chosen: &[Runtime],
    (folder, runs): (&Path, &RunFolder),
    comparison: &mut Comparison,
    progress: &Progress,
    stopped: &(impl Fn() -> bool + Sync),
) -> anyhow::Result<Vec<Vec<Variant>>> {
    let mut builder = Builder::new(&folder.join("cpp"))?;
    let mut variants: Vec<Vec<Variant>> = vec![Vec::new(); kernels.len()];
    for &runtime in chosen {
        if stopped() {
            return Ok(variants);
        }
        if runtime == Runtime::Rayon {
            progress.say("building the Rayon programs with cargo, bare and recorded");
            match rayon::build(kernels, &folder.join("rayon")) {
                Ok(programs) => {
                    for (kernel, variants) in kernels.iter().zip(&mut variants) {
                        let both = (
                            programs.bare.get(kernel.name),
                            programs.recorded.get(kernel.name),
                        );
                        if let (Some(bare), Some(recorded)) = both {
                            let (bare, recorded) = (bare.clone(), recorded.clone());
                            variants.push(Variant {
                                runtime,
                                bare,
                                recorded,
                            });
                        }
                    }
                    let rustc = super::runtime::version("rustc").unwrap_or_default();
                    comparison
                        .runtimes
                        .push((runtime, format!("Rayon {}, {rustc}", programs.version)));
                }
                Err(why) => comparison.missing.push((runtime, format!("{why:#}"))),
            }
            continue;
        }
        match toolchain(runtime, &runs.path) {
            Ok(toolchain) => {
                for (kernel, variants) in kernels.iter().zip(&mut variants) {
                    let bare = builder.add(kernel, runtime, &toolchain, runtime.build().flags)?;
                    let recorded = match runtime.recorded_flags() {
                        Some(flags) => builder.add(kernel, runtime, &toolchain, flags)?,
                        None => bare.clone(),
                    };
                    variants.push(Variant {
                        runtime,
                        bare,
                        recorded,
                    });
                }
                comparison.runtimes.push((runtime, toolchain.version));
            }
            Err(why) => comparison.missing.push((runtime, why)),
        }
    }
    let all = builder.missing();
    if all > 0 {
        progress.say(&format!("building {all} programs in C++"));
        let failures = builder.build(|done| progress.count(done, all), stopped);
        comparison
            .warnings
            .extend(failures.into_iter().map(|f| format!("{f}.")));
    }
    for variants in &mut variants {
        variants.retain(|v| v.bare.exists() && v.recorded.exists());
    }
    if comparison.runtimes.is_empty() {
        let why: Vec<String> = comparison
            .missing
            .iter()
            .map(|(r, why)| format!("{}: {why}", r.title()))
            .collect();
        bail!("no runtime can be used here; {}", why.join("; "));
    }
    Ok(variants)
}

/// The 1-minute load average.
pub(super) fn load() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    text.split(' ').next()?.parse().ok()
}

/// Progress on stderr: one line that is overwritten on a terminal, else one line per step.
pub struct Progress {
    terminal: bool,
}

impl Progress {
    /// Checks whether stderr is a terminal.
    #[allow(clippy::new_without_default, reason = "it looks at the process")]
    pub fn new() -> Self {
        Self {
            terminal: std::io::stderr().is_terminal(),
        }
    }

    /// Shows the step that begins.
    pub fn say(&self, what: &str) {
        let mut stderr = std::io::stderr();
        // If the terminal is gone, the message is not needed.
        let _ = if self.terminal {
            write!(stderr, "\r\x1b[K{what} ...")
        } else {
            writeln!(stderr, "workspan: {what}")
        };
    }

    fn count(&self, done: usize, all: usize) {
        if self.terminal {
            self.say(&format!("building in C++, {done} of {all}"));
        }
    }

    /// Removes the line.
    pub fn clear(&self) {
        if self.terminal {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
