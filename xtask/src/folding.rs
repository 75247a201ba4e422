//! The part of `cargo xtask bench` about folding (docs/folding.md): runs of 10^8 tasks, bare and
//! recorded, with the cost of the traces and of their reports; and a smaller run in full detail for
//! comparison.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::large_run;
use crate::workspace::{build_release, cargo, cargo_workspan, output, target, workspan};

/// Kernels of `bench/` and their arguments; there is no cutoff, so that a task does almost nothing.
/// fib(38) has 1.3·10^8 tasks, fib(32) has 7·10^6, 15 queens have 1.7·10^8, 13 have 4.7·10^6, a
/// tree of depth 24 has 3.4·10^7. Runs of one program with the same arguments are adjacent. 15
/// queens at 10us would take half a gigabyte and as long as several other runs.
const RUNS: [(&str, &[&str], &[&str]); 12] = [
    ("fib", &["32"], &["--fold", "off"]),
    ("fib", &["32"], &["--fold", "auto"]),
    ("fib", &["32"], &["--fold", "10us"]),
    ("fib", &["38"], &["--fold", "auto"]),
    ("fib", &["38"], &["--fold", "10us"]),
    ("fib", &["38"], &["--fold", "1ms"]),
    ("nqueens", &["13", "13"], &["--fold", "off"]),
    ("nqueens", &["13", "13"], &["--fold", "10us"]),
    ("nqueens", &["15", "15"], &["--fold", "auto"]),
    ("nqueens", &["15", "15"], &["--fold", "1ms"]),
    ("treesum", &["24", "0"], &["--fold", "auto"]),
    ("treesum", &["24", "0"], &["--fold", "10us"]),
];

/// Prints the table.
pub fn run() -> Result<()> {
    build_release(true)?;
    let folder = target().join("workspan/bench");
    fs::create_dir_all(&folder)?;
    let trace = folder.join("folding.wspan");
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("folding, two threads; load before: {}", load.trim());
    println!(
        "{:<14}{:<14}{:>12}{:>9}{:>11}{:>9}{:>12}{:>12}{:>11}{:>11}{:>11}",
        "program",
        "flags",
        "tasks",
        "bare s",
        "recorded s",
        "ratio",
        "trace MB",
        "KB/thread",
        "folds",
        "report s",
        "peak GB"
    );
    let mut known = None;
    for (name, arguments, flags) in RUNS {
        let bare = match known {
            Some((run, seconds)) if run == (name, arguments) => seconds,
            _ => time(Command::new(executable(&mut cargo(), name)?).args(arguments))?,
        };
        known = Some(((name, arguments), bare));
        let program = executable(&mut cargo_workspan("release")?, name)?;
        let _ = fs::remove_file(&trace);
        let mut record = workspan("release");
        record.args(["record", "--no-report"]).args(flags);
        record.arg("-o").arg(&trace).arg("--").arg(program);
        let recorded = time(record.args(arguments))?;
        let (tasks, folds) = counted(&trace)?;
        let report = large_run::cost(workspan("release").args(["report", "--json"]).arg(&trace))?;
        let bytes = fs::metadata(&trace)?.len() as f64;
        println!(
            "{:<14}{:<14}{tasks:>12}{bare:>9.2}{recorded:>11.2}{:>9.2}{:>12.2}{:>12.0}{folds:>11}{:>11.2}{:>11.2}",
            format!("{name} {}", arguments.join(" ")),
            flags.last().unwrap_or(&""),
            recorded / bare,
            bytes / 1e6,
            bytes / 2e3,
            report.clock,
            report.peak_kib.unwrap_or(f64::NAN) * 1024.0 / 1e9,
        );
    }
    let _ = fs::remove_file(&trace);
    Ok(())
}

/// The kernel, built by this cargo.
pub(crate) fn executable(cargo: &mut Command, name: &str) -> Result<PathBuf> {
    let build = ["build", "--release", "--package=workspan-bench", "--quiet"];
    let messages = output(
        cargo
            .args(build)
            .args(["--message-format", "json", "--bin", name]),
    )?;
    let found = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut paths = found.filter_map(|m| m["executable"].as_str().map(PathBuf::from));
    paths
        .next_back()
        .with_context(|| format!("no executable of {name}"))
}

/// Seconds that the kernel took, as it prints them, without the recorder's start and the finalising
/// of the trace.
fn time(command: &mut Command) -> Result<f64> {
    let started = Instant::now();
    command
        .args(["--time", "yes"])
        .env("RAYON_NUM_THREADS", "2");
    let run = command.stdin(Stdio::null()).output()?;
    if !run.status.success() {
        bail!("{command:?}: {}", run.status);
    }
    let stderr = String::from_utf8_lossy(&run.stderr);
    let mut lines = stderr.lines();
    let ns = lines.find_map(|l| l.strip_prefix("kernel took ")?.strip_suffix(" ns"));
    let seconds = ns.and_then(|ns| ns.parse::<f64>().ok()).map(|ns| ns / 1e9);
    Ok(seconds.unwrap_or(started.elapsed().as_secs_f64()))
}

/// Number of tasks of a trace, including those in folded subtrees, and the number of these
/// subtrees.
fn counted(trace: &Path) -> Result<(u64, u64)> {
    let info = output(workspan("release").args(["info", "--json"]).arg(trace))?;
    let info: Value = serde_json::from_str(&info)?;
    let rows = info["captured"].as_array();
    let row = rows.and_then(|rows| rows.iter().find(|r| r["what"] == "folded subtrees"));
    let folds = row.and_then(|row| row["count"].as_u64()).unwrap_or(0);
    Ok((info["tasks"].as_u64().context("no tasks")?, folds))
}
