//! `workspan bench suite`: BOTS and TP-PARSEC on every task runtime this machine has.

mod files;
mod names;
mod page;
mod picture;
mod programs;
mod progress;
mod reports;
mod summary;
mod table;
mod turn;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Context, bail};

use super::build::FLAGS;
use super::folder::{RunFolder, put};
use super::kernels::{HEADERS, RUST_API, RUST_LIBRARY};
use super::measure::Variant;
use super::result::Comparison;
use super::runtime::{RUNTIMES, Runtime};
use super::runtimes::{Progress, load, prepare, stop_flag};
use crate::output::print;
use crate::say;
use programs::{Program, SUITE};
use progress::{Durations, wait};
use reports::Reports;
use turn::{Cell, Store, TurnResults, TurnSettings};
use workspan_record::embedded;
use workspan_record::options::keep_windows::{Length, positive};

/// Runs BOTS and TP-PARSEC on every task runtime on this machine
#[derive(Debug, Clone, clap::Args)]
#[command(
    long_about = "Runs BOTS and TP-PARSEC on every task runtime on this machine.

The 21 programs are in the tool: Rust for Rayon, which cargo builds, and C++ for LLVM OpenMP (clang++), GNU \
OpenMP and oneTBB (g++) and for the serial elision that speedups are measured against. What is missing is named. \
Each turn runs a program bare and recorded; all programs take turns. Every turn and its trace is kept in a \
folder, where an interrupted suite goes on, and where suite.csv, suite.json, pictures, the viewers of the \
fastest runs and index.html are written. docs/suite.md describes the programs.",
    after_help = "\
Examples:
  workspan bench suite --size test
  workspan bench suite --only sparselu,sort --runtime libomp,rayon --repeat 5
  workspan bench suite --only bots --workers 1,2 --folder bots-here

Programs: alignment, fft, fib, floorplan, health, nqueens, sort, sparselu, strassen, uts (`bots` is all of these);
blackscholes, bodytrack, canneal, dedup, facesim, ferret, fluidanimate, freqmine, raytrace, streamcluster,
swaptions (`parsec`)."
)]
pub struct SuiteArgs {
    /// Programs, separated by commas (default: all 21)
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    only: Vec<String>,
    /// Runtimes, separated by commas: serial, rayon, libomp, libgomp, onetbb (default: all that are
    /// here)
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    runtime: Vec<String>,
    /// Input sizes: test takes milliseconds a program, small a second, large what the literature
    /// ran
    #[arg(long, value_name = "SIZE", default_value = "small", value_parser = ["test", "small", "large"])]
    size: String,
    /// Numbers of workers, separated by commas (default: as many as CPUs)
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..=1024))]
    workers: Vec<u16>,
    /// Turns of each program on each runtime
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=1000))]
    repeat: u16,
    /// Run bare only
    #[arg(long)]
    no_record: bool,
    /// Write no viewers of the fastest runs (reports/*.html)
    #[arg(long)]
    no_reports: bool,
    /// Ends a run that takes longer, and leaves its program out on that runtime (default: 10m; 2h
    /// with --size large)
    #[arg(long, value_name = "TIME", value_parser = positive)]
    limit: Option<Length>,
    /// Where turns, traces and results are kept
    #[arg(long, value_name = "FOLDER", default_value = "workspan-suite")]
    folder: PathBuf,
}

/// `workspan bench suite`.
///
/// # Errors
/// A name is unknown, a requested runtime is not available, or a folder can't be written. A program
/// that fails does not end the suite; the exit code is 1 then.
pub fn run(args: &SuiteArgs) -> anyhow::Result<ExitCode> {
    let programs = programs::chosen(&args.only)?;
    let known = RUNTIMES.map(Runtime::name);
    let asked = names::known("runtime", &args.runtime, &known)?;
    let is_asked = |runtime: &Runtime| asked.is_empty() || asked.contains(&runtime.name());
    let chosen: Vec<Runtime> = RUNTIMES.into_iter().filter(is_asked).collect();
    let stop = stop_flag()?;
    let stopped = || stop.load(Ordering::Relaxed);
    let progress = Progress::new();
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let busy = load().is_some_and(|load| load > 0.5 * cpus as f64);
    let mut built = Comparison::default();
    let cache = embedded::unpack(None)?.folder.join("bench");
    let limit = args.limit.map(Length::duration);
    let filling = TurnSettings {
        size: &args.size,
        record: !args.no_record,
        limit: limit.unwrap_or_else(|| default_limit(&args.size)),
    };
    let store = Store::new(&args.folder, &cache, filling)?;
    let runs = RunFolder::below(&cache)?;
    let variants = prepare(
        &[SUITE],
        &chosen,
        (&cache, &runs),
        &mut built,
        &progress,
        &stopped,
    )?;
    if let (Some((runtime, why)), false) = (built.missing.first(), asked.is_empty()) {
        bail!(
            "{} can't be used here: {}",
            runtime.title(),
            missing(*runtime, why)
        );
    }
    let workers: Vec<usize> = match args.workers.as_slice() {
        [] => vec![cpus],
        given => given.iter().map(|&w| usize::from(w)).collect(),
    };
    let mut warnings = built.warnings.clone();
    if busy {
        warnings.push("The machine was busy before the measurement began, so other programs may have affected the times.".into());
    }
    if workers.iter().any(|&w| w > cpus) {
        warnings.push(format!(
            "More workers were requested than the {cpus} CPUs of this machine."
        ));
    }
    let variants = variants.into_iter().flatten().collect::<Vec<Variant>>();
    let session = Session {
        store: &store,
        variants: &variants,
        built: &built,
        progress: &progress,
        stopped: &stopped,
    };
    let cells = cells(&programs, &variants, &workers, usize::from(args.repeat));
    let SuiteResults { turns, failures } = session.measure(&cells);
    progress.clear();
    warnings.extend(failures.iter().cloned());
    let done = turns.len();
    let mut benchmarks = summary::benchmarks(&turns);
    if !args.no_reports {
        let reports = Reports {
            folder: &args.folder,
            progress: &progress,
            stopped: &stopped,
        };
        warnings.extend(reports.write(&mut benchmarks)?);
        progress.clear();
    }
    let about = about(cpus, &built);
    write(&args.folder, &args.size, &benchmarks, &about, &warnings)?;
    print(&table::text(&benchmarks, &about, &warnings))?;
    let folder = args.folder.display();
    if stopped() {
        say!(
            "workspan: interrupted; {done} of {} turns are in {folder}, and the same command goes on",
            cells.len()
        );
        return Ok(ExitCode::from(130));
    }
    say!("workspan: {done} turns, their traces and index.html are in {folder}");
    if failures.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    for failure in &failures {
        say!("workspan: failed: {failure}");
    }
    say!("workspan: the same command runs what failed again");
    Ok(ExitCode::FAILURE)
}

/// Default time limit of a run.
fn default_limit(size: &str) -> Duration {
    const MINUTE: Duration = Duration::from_secs(60);
    if size == "large" {
        120 * MINUTE
    } else {
        10 * MINUTE
    }
}

/// The results of the turns.
struct SuiteResults {
    turns: Vec<(Cell, TurnResults)>,
    /// Programs that were left out for a runtime, with the reason.
    failures: Vec<String>,
}

/// The turns in the order in which they run: a slow moment of the machine affects all programs
/// equally.
fn cells(
    programs: &[Program],
    variants: &[Variant],
    workers: &[usize],
    repeat: usize,
) -> Vec<Cell> {
    let mut cells = Vec::new();
    for turn in 1..=repeat {
        for &program in programs {
            for runtime in variants.iter().map(|variant| variant.runtime) {
                let alone = runtime == Runtime::Serial;
                for &workers in if alone { &[1][..] } else { workers } {
                    cells.push(Cell {
                        program,
                        workers,
                        runtime,
                        turn,
                    });
                }
            }
        }
    }
    cells
}

struct Session<'a> {
    store: &'a Store,
    variants: &'a [Variant],
    built: &'a Comparison,
    progress: &'a Progress,
    stopped: &'a dyn Fn() -> bool,
}

impl Session<'_> {
    /// Runs the turns that have not run before. A program that fails with a runtime is left out
    /// from there on.
    fn measure(&self, cells: &[Cell]) -> SuiteResults {
        let mut turns: Vec<(Cell, TurnResults)> = Vec::new();
        let mut failures = Vec::new();
        let mut durations = Durations::default();
        let mut left = Vec::new();
        for cell in cells {
            match self.store.saved_turn(cell, &self.identity(cell.runtime)) {
                Some(turn) => {
                    durations.add(cell, turn.turn_ns);
                    turns.push((*cell, turn));
                }
                None => left.push(*cell),
            }
        }
        let mut failed: Vec<(&str, Runtime)> = Vec::new();
        for (i, cell) in left.iter().enumerate() {
            if (self.stopped)() {
                break;
            }
            let key = (cell.program.name, cell.runtime);
            if failed.contains(&key) {
                continue;
            }
            self.say(
                cells.len() - left.len() + i + 1,
                cells.len(),
                cell,
                durations.remaining(&left[i..]),
            );
            match self.turn(cell, &turns) {
                Ok(turn) => {
                    durations.add(cell, turn.turn_ns);
                    turns.push((*cell, turn));
                }
                Err(_) if (self.stopped)() => break,
                Err(error) => {
                    failed.push(key);
                    let (program, runtime) = (cell.program.name, cell.runtime.title());
                    failures.push(format!("{program} on {runtime}: {error:#}."));
                }
            }
        }
        SuiteResults { turns, failures }
    }

    fn turn(&self, cell: &Cell, turns: &[(Cell, TurnResults)]) -> anyhow::Result<TurnResults> {
        let variant = self.variants.iter().find(|v| v.runtime == cell.runtime);
        let variant = variant.context("it was not built")?;
        // All runs must print the same; otherwise the measured work is wrong.
        let is_right = |printed: &str| {
            let mut same = turns
                .iter()
                .filter(|(other, _)| other.program == cell.program);
            match same.find(|(_, other)| other.printed != printed) {
                Some((other, first)) => bail!(
                    "it printed `{printed}`, and on {} `{}`",
                    other.runtime.title(),
                    first.printed
                ),
                None => Ok(()),
            }
        };
        let identity = self.identity(cell.runtime);
        self.store.measure(cell, variant, &identity, is_right)
    }

    /// The inputs that a runtime's programs were built from.
    fn identity(&self, runtime: Runtime) -> String {
        let version = self.built.runtimes.iter().find(|r| r.0 == runtime);
        let mut text = version.map_or_else(String::new, |r| r.1.clone());
        let (own, shared): (&[_], &[&[_]]) = if runtime == Runtime::Rayon {
            (SUITE.rust, &[&RUST_LIBRARY, &RUST_API])
        } else {
            (SUITE.cpp, &[&HEADERS])
        };
        FLAGS.iter().for_each(|flag| text.push_str(flag));
        let files = own.iter().chain(shared.iter().copied().flatten());
        files.for_each(|(_, source)| text.push_str(source));
        format!("{:016x}", embedded::hash(text.as_ref()))
    }

    fn say(&self, step: usize, steps: usize, cell: &Cell, remaining: Option<u64>) {
        let rest = remaining.map_or_else(String::new, |ns| format!(", about {} left", wait(ns)));
        self.progress.say(&format!(
            "{step} of {steps}: {} on {}, workers {}, turn {}{rest}",
            cell.program.name,
            cell.runtime.title(),
            cell.workers,
            cell.turn
        ));
    }
}

/// Why a runtime is not available, with the command that installs its compiler on Debian and
/// similar systems. cargo itself says what it lacks.
fn missing(runtime: Runtime, why: &str) -> String {
    let packages = match runtime {
        Runtime::Serial | Runtime::Libgomp => "g++",
        Runtime::Libomp => "clang libomp-dev",
        Runtime::OneTbb => "g++ libtbb-dev",
        Runtime::Rayon => return why.to_owned(),
    };
    format!("{why}; sudo apt-get install {packages}")
}

/// The machine, the available runtimes, and those that are missing.
fn about(cpus: usize, built: &Comparison) -> Vec<String> {
    let mut lines = vec![format!("{cpus} CPUs")];
    for (runtime, what) in &built.runtimes {
        lines.push(format!("{}: {what}", runtime.title()));
    }
    for (runtime, why) in &built.missing {
        lines.push(format!(
            "{} is not here: {}",
            runtime.title(),
            missing(*runtime, why)
        ));
    }
    lines
}

fn write(
    folder: &Path,
    size: &str,
    benchmarks: &[summary::Benchmark],
    about: &[String],
    warnings: &[String],
) -> anyhow::Result<()> {
    put(&folder.join("suite.csv"), &files::csv(benchmarks))?;
    let json = files::json(size, benchmarks, about, warnings)?;
    put(&folder.join("suite.json"), &json)?;
    for picture in picture::pictures(benchmarks) {
        put(&folder.join(picture.file), &picture.svg)?;
    }
    let page = page::html(size, benchmarks, about, warnings);
    put(&folder.join("index.html"), &page)
}
