//! Work, span and tasks of budgeted runs as reported, compared with known values. The number of
//! tasks of a Fibonacci number is known exactly. The work comes from runs of the bare program in
//! between. The span comes from a run recorded in full, if the run is small enough for that.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use super::{Program, creates, sorted};
use crate::workspace::{output, workspan};

/// A Fibonacci number whose run can be recorded in full, and a large one.
const SIZES: [u64; 2] = [31, 38];
/// Number of budgeted runs of each.
const RUNS: usize = 5;

/// Indices of the variants of `super::VARIANTS` that are used.
const BARE: usize = 0;
const FULL: usize = 1;
const BUDGETED: usize = 3;

/// Values of a report in ms, µs and tasks, each with its interval.
struct ReportValues {
    work: f64,
    span: [f64; 3],
    tasks: [f64; 3],
}

/// Prints the estimates for one and two workers.
pub(super) fn print(program: &Program, trace: &Path) -> Result<()> {
    println!(
        "\nuncut fib over {}, what budgeted runs are estimated to hold, and in brackets the interval\n\
         bare: the bare program's time x workers, median and range of its runs, one before each of the others; / bare: work / that median;\n\
         span: of a run recorded in full",
        program.runtime
    );
    println!(
        "{:<5}{:<9}{:<10}{:>26}{:>10}{:>9}  {:<42}span, µs",
        "n", "workers", "", "bare, ms", "work, ms", "/ bare", "tasks / exact"
    );
    for n in SIZES {
        for workers in ["1", "2"] {
            measure(program, n, workers, trace)?;
        }
    }
    Ok(())
}

fn measure(program: &Program, n: u64, workers: &'static str, trace: &Path) -> Result<()> {
    let mut cell = program.cell(0, 0.0, workers);
    cell.n = n;
    // Number of tasks of the joins; the program around them has a few more.
    let exact = 2.0 * creates(n);
    let share: f64 = workers.parse()?;
    let full = (n == SIZES[0]).then_some(FULL);
    let (mut bare, mut found) = (Vec::new(), Vec::new());
    for variant in full.into_iter().chain([BUDGETED; RUNS]) {
        bare.push(program.measure(&cell, BARE, trace)? * creates(n) * share / 1e6);
        program.measure(&cell, variant, trace)?;
        found.push((variant, reported(trace)?));
    }
    // The median, because single runs differ by more than the estimates.
    let bare = sorted(&bare);
    let middle = bare[bare.len() / 2];
    let runs = format!("{middle:.1} ({:.1}-{:.1})", bare[0], bare[bare.len() - 1]);
    for (variant, found) in found {
        let [tasks, fewest, most] = found.tasks.map(|tasks| tasks / exact);
        let [span, low, high] = found.span;
        let held = match (fewest..=most).contains(&1.0) {
            _ if variant == FULL => "",
            true => ", holds",
            false => ", does not hold",
        };
        let tasks = format!("{tasks:.3} ({fewest:.3}-{most:.3}{held})");
        println!(
            "{n:<5}{workers:<9}{:<10}{runs:>26}{:>10.1}{:>9.2}  {tasks:<42}{span:.1} ({low:.1}-{high:.1})",
            super::VARIANTS[variant],
            found.work,
            found.work / middle,
        );
    }
    Ok(())
}

fn reported(trace: &Path) -> Result<ReportValues> {
    let report = output(workspan("release").args(["report", "--json"]).arg(trace))?;
    let report: Value = serde_json::from_str(&report).context("workspan report --json")?;
    let number = |value: &Value| value.as_f64();
    let second = number(&report["ticks_per_second"]).context("a report without a clock")?;
    let estimated = &report["estimated"];
    // If nothing was estimated, the interval is the value.
    let estimate = |value: &str, low: &str, high: &str| {
        let value = number(&report[value]).unwrap_or(f64::NAN);
        let end = |end: &str| number(&estimated[end]).unwrap_or(value);
        [value, end(low), end(high)]
    };
    Ok(ReportValues {
        work: number(&report["work"]).unwrap_or(f64::NAN) / second * 1e3,
        span: estimate("span", "span_low", "span_high").map(|ticks| ticks / second * 1e6),
        tasks: estimate("tasks", "tasks_low", "tasks_high"),
    })
}
