//! `cargo xtask bench`: what recording costs on the smallest task there is, as ratios measured side by side.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::workspace::{build_release, cargo, cargo_workspan, output, target, workspan};

/// How often each variant runs; they take turns, so that a slow moment of the machine meets all of them.
const ROUNDS: usize = 7;

/// ns per join of one run.
#[derive(Clone, Copy)]
struct Run {
    least: f64,
    median: f64,
}

/// Measures uncut fib bare, with the stand-in unrecorded, and recorded, on one and two threads.
pub fn run() -> Result<()> {
    build_release()?;
    let bare = executable(cargo().args(["build"]).args(BUILD))?;
    let stand_in = executable(cargo_workspan()?.args(["build"]).args(BUILD))?;
    let folder = target().join("workspan/bench");
    fs::create_dir_all(&folder)?;
    let trace = folder.join("joins.wspan");
    println!("uncut fib, ns per join; {ROUNDS} rounds of each, taking turns");
    if let Some(clock) = clock_ns() {
        println!("a clock read here: {clock:.1} ns");
    }
    println!(
        "{:<10}{:<22}{:>9}{:>9}{:>12}{:>12}",
        "threads", "variant", "minimum", "median", "min - bare", "min / bare"
    );
    for threads in ["1", "2"] {
        let mut runs: [Vec<Run>; 3] = Default::default();
        for _ in 0..ROUNDS {
            runs[0].push(measure(
                Command::new(&bare).env("RAYON_NUM_THREADS", threads),
            )?);
            runs[1].push(measure(
                Command::new(&stand_in).env("RAYON_NUM_THREADS", threads),
            )?);
            runs[2].push(measure(
                recorded(&stand_in, &trace).env("RAYON_NUM_THREADS", threads),
            )?);
        }
        let least = |runs: &[Run]| runs.iter().map(|r| r.least).fold(f64::INFINITY, f64::min);
        let base = least(&runs[0]);
        for (name, runs) in ["bare", "stand-in, unrecorded", "recorded"]
            .into_iter()
            .zip(&runs)
        {
            let mut medians: Vec<f64> = runs.iter().map(|r| r.median).collect();
            medians.sort_by(f64::total_cmp);
            let (low, middle) = (least(runs), medians[medians.len() / 2]);
            println!(
                "{threads:<10}{name:<22}{low:>9.1}{middle:>9.1}{:>12.1}{:>12.2}",
                low - base,
                low / base
            );
        }
    }
    let info: Value =
        serde_json::from_str(&output(workspan().args(["info", "--json"]).arg(&trace))?)?;
    let (bytes, tasks) = (info["bytes"].as_f64(), info["tasks"].as_f64());
    let (Some(bytes), Some(tasks)) = (bytes, tasks) else {
        bail!("workspan info said no size")
    };
    println!(
        "recorded, 2 threads: {tasks} tasks in {bytes} bytes, {:.1} bytes a task",
        bytes / tasks
    );
    Ok(())
}

const BUILD: [&str; 6] = [
    "--release",
    "--package=workspan-bench",
    "--bin=joins",
    "--quiet",
    "--message-format",
    "json",
];

/// The executable that a `cargo build --message-format json` made.
fn executable(command: &mut Command) -> Result<PathBuf> {
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
    // A trace is never overwritten; the last one is the one whose bytes count.
    let _ = fs::remove_file(trace);
    let mut command = workspan();
    command
        .args(["record", "--no-report", "-o"])
        .arg(trace)
        .arg("--")
        .arg(program);
    command
}

/// Runs the `joins` kernel and reads the two numbers it prints. What `record` says of each trace is of no interest here.
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
        [least, median] => Ok(Run {
            least: *least,
            median: *median,
        }),
        _ => bail!("{command:?} printed `{text}`, not two numbers"),
    }
}

/// The least time of a read of the clock the recorder uses, over many batches.
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
