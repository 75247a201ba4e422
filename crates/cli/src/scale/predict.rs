//! Predictions from a recorded run.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};
use workspan_analysis::scale::{Logical, RecordedRun, SimulatedRuns};
use workspan_analysis::simulate::{Policy, Setup, Simulation, usual_attempt_cost};
use workspan_analysis::{Options, report};
use workspan_dag::Dag;
use workspan_reader::OpenOptions;

use super::run::Runner;
use crate::section::SectionArgs;

/// Records the given command with `workers` workers into `trace`.
///
/// # Errors
/// The program can't be recorded, or fails.
pub fn record(
    runner: &Runner,
    given: &[OsString],
    workers: u32,
    cpus: Option<&[usize]>,
    trace: &Path,
) -> anyhow::Result<()> {
    // A trace of another run must not be mistaken for this run's.
    match std::fs::remove_file(trace) {
        Err(e) if e.kind() != ErrorKind::NotFound => {
            return Err(e).with_context(|| format!("{}: can't be replaced", trace.display()));
        }
        _ => {}
    }
    let tool = std::env::current_exe().context("this program's own file can't be found")?;
    let mut command = Command::new(tool);
    command
        .args(["record", "--no-report", "--max-overhead", "off", "-o"])
        .arg(trace);
    command.arg("--").args(given);
    runner.run(command, workers, cpus).map_err(|why| {
        // The recorder's message about the program, without the fact that the recorder failed.
        let said = why.root_cause().to_string();
        let said = said.rsplit_once("workspan: ").map_or(&*said, |said| said.1);
        anyhow::anyhow!("{said}")
    })?;
    if !trace.is_file() {
        bail!("nothing parallel was seen in it");
    }
    Ok(())
}

/// A recorded run after reading.
pub struct Recorded {
    /// The run.
    pub dag: Dag,
    /// The inputs of the bounds.
    pub logical: Logical,
    /// Whether it had the requested workers, and where its time was spent.
    pub run: RecordedRun,
    /// Its elapsed time, in nanoseconds.
    pub elapsed_ns: u64,
    /// Ticks per second; 0 if the unit is unknown.
    pub ticks_per_second: u64,
}

/// Reads a recorded run.
///
/// # Errors
/// The trace can't be read.
pub fn read(trace: &Path, asked: u32, section: &SectionArgs) -> anyhow::Result<Recorded> {
    let measured = Options::default();
    let dag = section.open(trace, OpenOptions::default(), &measured)?;
    let report = report(&dag, &measured).with_context(|| trace.display().to_string())?;
    let ticks_per_second = dag.meta.ticks_per_second;
    let tick = 1e9 / ticks_per_second.max(1) as f64;
    Ok(Recorded {
        logical: Logical::from(&report.work_span),
        run: RecordedRun::new(&report, asked, tick),
        elapsed_ns: (report.breakdown.elapsed() as f64 * tick).round() as u64,
        ticks_per_second,
        dag,
    })
}

/// Simulates the run on each of `workers`, with the costs in the trace.
///
/// # Errors
/// See [`Simulation::new`].
pub fn simulate(
    recorded: &Recorded,
    workers: &[u32],
    policy: Policy,
    seeds: u32,
) -> anyhow::Result<Vec<SimulatedRuns>> {
    let meta = &recorded.dag.meta;
    let simulation = Simulation::new(&recorded.dag, &Options::default(), meta.probe_cost, &[])?;
    let runs = workers.iter().map(|&workers| {
        let setup = |seed: u32| Setup {
            workers,
            policy,
            steal_cost: meta.burden,
            attempt_cost: usual_attempt_cost(meta.burden),
            seed: seed.into(),
        };
        let speedups: Vec<f64> = (1..=seeds)
            .map(|seed| {
                let elapsed = simulation.run(&setup(seed)).elapsed;
                recorded.logical.work as f64 / elapsed.max(1) as f64
            })
            .collect();
        SimulatedRuns {
            workers,
            mean: speedups.iter().sum::<f64>() / speedups.len().max(1) as f64,
            least: speedups.iter().copied().fold(f64::INFINITY, f64::min),
            most: speedups.iter().copied().fold(0.0, f64::max),
        }
    });
    Ok(runs.collect())
}
