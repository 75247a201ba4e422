//! `cargo xtask bench`: measures the cost of recording, as ratios of interleaved runs. The cost is
//! per join, for tasks that do nothing else and for tasks with 1, 10 and 100 µs of work, compared
//! with rayon_logs. It also measures the bytes per task; the memory used; reading and the report of
//! 10^7 tasks (`large_run`); and tasks of the C and C++ runtimes and the cost of samples
//! (`native_bench`).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::large_run;
use crate::native_bench;
use crate::rival;
use crate::workspace::{build_release, cargo, cargo_workspan, output, target, workspan};

/// Number of runs of each variant; the variants alternate, so that a slow moment of the machine
/// affects all of them.
const ROUNDS: usize = 7;

const VARIANTS: [&str; 4] = ["bare", "stand-in, unrecorded", "recorded", "rayon_logs"];

/// The output of one run of the `joins` kernel.
#[derive(Clone, Copy)]
struct Run {
    /// Nanoseconds per join in its fastest batch.
    least: f64,
    /// Nanoseconds per join in the median batch.
    median: f64,
    /// Peak memory of the process.
    peak_kib: f64,
}

/// A size of the kernel.
struct Size {
    /// The work of every task.
    label: &'static str,
    strand_us: f64,
    n: &'static str,
    batches: &'static str,
}

/// Batches of about a millisecond or less, some of which run undisturbed even on a busy machine.
const SIZES: [Size; 4] = [
    size("none (uncut fib)", 0.0, "16", "200"),
    size("1 µs", 1.0, "13", "300"),
    size("10 µs", 10.0, "8", "400"),
    size("100 µs", 100.0, "5", "300"),
];

const fn size(label: &'static str, strand_us: f64, n: &'static str, batches: &'static str) -> Size {
    Size {
        label,
        strand_us,
        n,
        batches,
    }
}

/// The programs, and the path of the trace.
struct Kernel {
    bare: PathBuf,
    stand_in: PathBuf,
    trace: PathBuf,
    /// The same joins with rayon_logs, if it builds.
    rival: Option<PathBuf>,
    /// Rounds of its work per µs, at the machine's highest speed.
    rounds_per_us: f64,
}

/// Measures the kernel bare, with the stand-in unrecorded, and recorded, on one and two threads.
pub fn run() -> Result<()> {
    build_release(true)?;
    let bare = executable(cargo().args(["build"]).args(BUILD))?;
    let stand_in = executable(cargo_workspan("release")?.args(["build"]).args(BUILD))?;
    let rival = rival::build()
        .inspect_err(|why| println!("not measured: rayon_logs does not build: {why}"))
        .ok();
    let folder = target().join("workspan/bench");
    fs::create_dir_all(&folder)?;
    let work = output(Command::new(&bare).args(["--work", "10000"]))?;
    let ns: f64 = work.trim().parse().context("joins --work")?;
    let kernel = Kernel {
        bare,
        stand_in,
        trace: folder.join("joins.wspan"),
        rival,
        rounds_per_us: 10_000.0 * 1_000.0 / ns,
    };
    println!("ns per join inside the pool; {ROUNDS} runs of each variant, taking turns");
    println!("minimum: of all batches; median: of the runs' medians; spread: of those medians");
    if let Some(clock) = clock_ns() {
        println!("a clock read here: {clock:.1} ns");
    }
    for size in &SIZES {
        println!("\nwork in every task: {}", size.label);
        println!(
            "{:<9}{:<22}{:>9}{:>9}{:>18}{:>12}{:>12}{:>12}{:>10}",
            "threads",
            "variant",
            "minimum",
            "median",
            "spread",
            "min - bare",
            "min / bare",
            "med / bare",
            "peak MiB"
        );
        for threads in ["1", "2"] {
            measure_size(&kernel, size, threads)?;
        }
        if size.strand_us == 0.0 {
            large_run::trace_size(&kernel.trace)?;
        }
    }
    large(&kernel)?;
    native_bench::run()
}

/// Measures traces of more than 10^7 tasks and of 10^6.
fn large(kernel: &Kernel) -> Result<()> {
    let record = |joins: &str| {
        let mut command = recorded(&kernel.stand_in, &kernel.trace);
        let command = command.args([joins, "1", "0"]);
        output(command.env("RAYON_NUM_THREADS", "2"))
    };
    record(large_run::N)?;
    large_run::measure(&kernel.trace)?;
    record(large_run::MILLION)?;
    large_run::simulated(&kernel.trace)?;
    let _ = fs::remove_file(&kernel.trace);
    Ok(())
}

/// Measures one block of the table.
fn measure_size(kernel: &Kernel, size: &Size, threads: &str) -> Result<()> {
    let work = (size.strand_us * kernel.rounds_per_us).round().to_string();
    let ready = |mut command: Command| {
        command
            .args([size.n, size.batches, &work])
            .env("RAYON_NUM_THREADS", threads);
        command
    };
    // rayon_logs only has a kernel of joins without work.
    let rival = kernel.rival.as_ref().filter(|_| size.strand_us == 0.0);
    let mut runs: [Vec<Run>; 4] = Default::default();
    for _ in 0..ROUNDS {
        runs[0].push(measure(&mut ready(Command::new(&kernel.bare)))?);
        runs[1].push(measure(&mut ready(Command::new(&kernel.stand_in)))?);
        runs[2].push(measure(&mut ready(recorded(
            &kernel.stand_in,
            &kernel.trace,
        )))?);
        if let Some(rival) = rival {
            runs[3].push(measure(
                Command::new(rival).env("RAYON_NUM_THREADS", threads),
            )?);
        }
    }
    let least = |runs: &[Run]| runs.iter().map(|r| r.least).fold(f64::INFINITY, f64::min);
    let peak = |runs: &[Run]| runs.iter().map(|r| r.peak_kib).fold(0.0, f64::max);
    let medians = |runs: &[Run]| {
        let mut medians: Vec<f64> = runs.iter().map(|r| r.median).collect();
        medians.sort_by(f64::total_cmp);
        medians
    };
    let (base, base_median) = (least(&runs[0]), medians(&runs[0])[ROUNDS / 2]);
    let measured = VARIANTS.into_iter().zip(&runs);
    for (name, runs) in measured.filter(|(_, runs)| !runs.is_empty()) {
        let (low, medians) = (least(runs), medians(runs));
        let middle = medians[ROUNDS / 2];
        let spread = format!("{:.1}-{:.1}", medians[0], medians[ROUNDS - 1]);
        println!(
            "{threads:<9}{name:<22}{low:>9.1}{middle:>9.1}{spread:>18}{:>12.1}{:>12.3}{:>12.3}{:>10.1}",
            low - base,
            low / base,
            middle / base_median,
            peak(runs) / 1024.0
        );
    }
    Ok(())
}

pub(crate) const BUILD: [&str; 6] = [
    "--release",
    "--package=workspan-bench",
    "--bin=joins",
    "--quiet",
    "--message-format",
    "json",
];

/// The executable that a `cargo build --message-format json` built.
pub(crate) fn executable(command: &mut Command) -> Result<PathBuf> {
    let messages = output(command)?;
    let found = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut paths = found.filter_map(|m| m["executable"].as_str().map(PathBuf::from));
    paths
        .next_back()
        .with_context(|| format!("{command:?} named no executable"))
}

fn recorded(program: &Path, trace: &Path) -> Command {
    // A trace is never overwritten; the size is that of the last one.
    let _ = fs::remove_file(trace);
    let mut command = workspan("release");
    command
        .args(["record", "--no-report", "--max-overhead", "off", "-o"])
        .arg(trace)
        .arg("--")
        .arg(program);
    command
}

/// Runs the `joins` kernel and reads the three numbers that it prints. The messages of `record`
/// about each trace are ignored.
fn measure(command: &mut Command) -> Result<Run> {
    let run = command.output().with_context(|| format!("{command:?}"))?;
    if !run.status.success() {
        bail!(
            "{command:?}: {}: {}",
            run.status,
            String::from_utf8_lossy(&run.stderr)
        );
    }
    let text = String::from_utf8_lossy(&run.stdout);
    let numbers: Vec<f64> = text
        .split_whitespace()
        .filter_map(|w| w.parse().ok())
        .collect();
    match numbers.as_slice() {
        [least, median, peak_kib] => Ok(Run {
            least: *least,
            median: *median,
            peak_kib: *peak_kib,
        }),
        _ => bail!("{command:?} printed `{text}`, not three numbers"),
    }
}

/// Minimum time of a read of the recorder's clock, over many batches.
fn clock_ns() -> Option<f64> {
    #[cfg(target_arch = "x86_64")]
    {
        let batch = || {
            let started = std::time::Instant::now();
            for _ in 0..1_000 {
                // SAFETY: every x86-64 CPU has the instruction.
                std::hint::black_box(unsafe { std::arch::x86_64::_rdtsc() });
            }
            started.elapsed().as_nanos() as f64 / 1_000.0
        };
        (0..200).map(|_| batch()).min_by(f64::total_cmp)
    }
    #[cfg(not(target_arch = "x86_64"))]
    None
}
