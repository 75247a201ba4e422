//! `cargo xtask bench ring`: measures what a flight recorder that is always on costs, for OpenMP
//! tasks of 10 µs.
//!
//! The ring is shorter than a run, so that a run's chunks are reused for most of the time, as in a
//! run of hours. What is compared is the process's own CPU time, which other programs affect less
//! than elapsed time. The variants take turns.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::overhead::sorted;
use crate::workspace::{build_release, output, root, target, workspan};

/// Number of runs of each variant.
pub const ROUNDS: usize = 15;
/// Length of a run, in seconds.
const SECONDS: &str = "3";
/// Length of a task, in ns.
const TASK_NS: f64 = 10_000.0;
/// Rounds of work in the run that shows how long one takes.
const TRIAL_ROUNDS: u64 = 4000;

/// The variants: a name, and the options of `record`; `None` for the bare program.
const VARIANTS: [(&str, Option<&[&str]>); 3] = [
    ("bare", None),
    ("--ring 500ms", Some(&["--ring", "500ms"])),
    (
        "--ring 500ms --sample off --no-perf",
        Some(&["--ring", "500ms", "--sample", "off", "--no-perf"]),
    ),
];

/// Measures on one and on two threads, in this number of rounds.
pub fn run(rounds: usize) -> Result<()> {
    build_release(true)?;
    let folder = target().join("workspan/bench");
    std::fs::create_dir_all(&folder)?;
    let program = build(&folder)?;
    let trial = task_ns(Command::new(&program), TRIAL_ROUNDS, "1")?;
    let work = (TASK_NS / trial * TRIAL_ROUNDS as f64) as u64;
    println!(
        "GNU OpenMP tasks of 10 µs: CPU time of a task, {rounds} runs of {SECONDS} s of each variant, taking turns\n\
         {:<9}{:<38}{:>12}{:>11}{:>12}{:>12}  quartiles of the pairs",
        "threads", "", "minimum, ns", "added, ns", "min / bare", "med / bare"
    );
    for threads in ["1", "2"] {
        measure(&program, &folder, (rounds.max(1), work), threads)?;
    }
    Ok(())
}

fn build(folder: &Path) -> Result<PathBuf> {
    let program = folder.join("ring");
    let mut compiler = Command::new("g++");
    compiler
        .args(["-std=c++17", "-O2", "-g", "-fopenmp"])
        .arg(root().join("bench/tp/ring.cpp"))
        .arg("-o")
        .arg(&program);
    output(&mut compiler).context("g++ is needed: apt-get install g++")?;
    Ok(program)
}

fn measure(
    program: &Path,
    folder: &Path,
    (rounds, work): (usize, u64),
    threads: &str,
) -> Result<()> {
    let trace = folder.join("ring.wspan");
    let mut runs: [Vec<f64>; VARIANTS.len()] = Default::default();
    for _ in 0..rounds {
        for ((_, options), runs) in VARIANTS.iter().zip(&mut runs) {
            let command = match options {
                None => Command::new(program),
                Some(options) => {
                    let _ = std::fs::remove_file(&trace);
                    let mut command = workspan("release");
                    command.args(["record", "--no-report"]).args(*options);
                    command.arg("-o").arg(&trace).arg("--").arg(program);
                    command
                }
            };
            runs.push(task_ns(command, work, threads)?);
        }
    }
    let [bare, ..] = &runs;
    let bare_sorted = sorted(bare);
    for ((name, _), runs) in VARIANTS.iter().zip(&runs) {
        let ratios: Vec<f64> = runs
            .iter()
            .zip(bare)
            .map(|(run, bare)| run / bare)
            .collect();
        let (ratios, runs) = (sorted(&ratios), sorted(runs));
        let at = |quarter: usize| ratios[(ratios.len() - 1) * quarter / 4];
        println!(
            "{threads:<9}{name:<38}{:>12.0}{:>11.0}{:>12.4}{:>12.4}  {:.4} {:.4} {:.4}",
            runs[0],
            runs[0] - bare_sorted[0],
            runs[0] / bare_sorted[0],
            runs[runs.len() / 2] / bare_sorted[bare_sorted.len() / 2],
            at(1),
            at(2),
            at(3),
        );
    }
    Ok(())
}

/// The CPU time of a task, in ns, as the program prints it.
fn task_ns(mut command: Command, work: u64, threads: &str) -> Result<f64> {
    command
        .args([SECONDS, &work.to_string()])
        .env("OMP_NUM_THREADS", threads)
        .env("OMP_WAIT_POLICY", "passive");
    let text = output(&mut command)?;
    let line = text.lines().find_map(|line| line.split_once(" tasks, "));
    let ns = line.and_then(|(_, rest)| rest.split(' ').next()?.parse().ok());
    match ns {
        Some(ns) => Ok(ns),
        None => bail!("{command:?} did not print the time of a task: {text}"),
    }
}
