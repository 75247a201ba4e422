//! Runs programs bare and recorded, by turns.

use std::path::Path;
use std::process::Command;

use workspan_cli::bench::measure::Variant;
use workspan_cli::bench::runtime::Runtime;
use workspan_cli::scale::Runner;

use super::predict::{JUDGED, Run};

/// A program with arguments.
pub struct Subject<'a> {
    /// Its arguments.
    pub arguments: &'static [&'static str],
    /// The program for one runtime.
    pub variant: &'a Variant,
}

/// The measurements of a program.
pub struct Measurements {
    /// Bare elapsed times on [`JUDGED`], the minimum of all rounds, in ns: disturbances only make a
    /// run slower.
    pub elapsed: [f64; 2],
    /// The recorded run that was disturbed least.
    pub run: anyhow::Result<Run>,
}

/// The parameters of the measurement.
pub struct Plan<'a> {
    /// Starts programs.
    pub runner: &'a Runner,
    /// CPUs for the workers.
    pub cpus: &'a [usize],
    /// Number of rounds.
    pub repeat: u32,
    /// The folder for traces.
    pub folder: &'a Path,
}

/// Runs all subjects by turns. Each round runs them bare on one worker and on two, and recorded on
/// two.
///
/// # Errors
/// A program fails.
pub fn measure(plan: &Plan, subjects: &[Subject]) -> anyhow::Result<Vec<Measurements>> {
    let nothing = || Measurements {
        elapsed: [f64::INFINITY; 2],
        run: Err(anyhow::anyhow!("it was not recorded")),
    };
    let mut all: Vec<Measurements> = subjects.iter().map(|_| nothing()).collect();
    for round in 0..plan.repeat {
        for (subject, measured) in subjects.iter().zip(&mut all) {
            for (workers, least) in JUDGED.into_iter().zip(&mut measured.elapsed) {
                let command = with_arguments(Command::new(&subject.variant.bare), subject, workers);
                let took = plan.runner.run(command, workers, place(plan, workers))?;
                *least = least.min(took.as_nanos() as f64);
            }
            // Recordings differ less, because disturbances are taken out.
            if round % 2 == 0 {
                keep_better(&mut measured.run, record(plan, subject));
            }
        }
    }
    Ok(all)
}

fn place<'a>(plan: &Plan<'a>, workers: u32) -> Option<&'a [usize]> {
    plan.cpus.get(..workers as usize)
}

fn with_arguments(mut command: Command, subject: &Subject, workers: u32) -> Command {
    command
        .args(subject.arguments)
        .args(["--workers", &workers.to_string()]);
    command
}

fn record(plan: &Plan, subject: &Subject) -> anyhow::Result<Run> {
    let file = plan.folder.join("trace.wspan");
    // `record` never overwrites a file; this one is ours.
    let _ = std::fs::remove_file(&file);
    let mut command = Command::new(std::env::current_exe()?.with_file_name("workspan"));
    command
        .args(["record", "--no-report", "--max-overhead", "off", "-o"])
        .arg(&file);
    command.arg("--").arg(&subject.variant.recorded);
    let command = with_arguments(command, subject, 2);
    plan.runner.run(command, 2, place(plan, 2))?;
    Run::read(&file)
}

/// A measure of how much others disturbed a run. A strand that was held up adds to the work. If it
/// is on the critical path it also adds to the span, of which it is a larger part.
fn disturbed(run: &Run) -> f64 {
    run.logical.work * run.logical.span
}

fn keep_better(best: &mut anyhow::Result<Run>, new: anyhow::Result<Run>) {
    let better = match (&best, &new) {
        (Ok(best), Ok(new)) => disturbed(new) < disturbed(best),
        (Ok(_), Err(_)) => false,
        (Err(_), _) => true,
    };
    if better {
        *best = new;
    }
}

/// The name of a subject shown to people.
pub fn title(kernel: &str, runtime: Runtime) -> String {
    format!("{kernel}, {}", runtime.title())
}
