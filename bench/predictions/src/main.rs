//! `cargo xtask bench predictions`: measures the quality of what-if and simulation on this machine
//! (docs/predictions.md), with programs measured before and after a fix, and with every kernel on
//! every runtime.

mod machine;
mod measure;
mod pairs;
mod predict;
mod table;

use std::process::ExitCode;

use clap::Parser;
use workspan_cli::bench::folder::RunFolder;
use workspan_cli::bench::kernels::{self, Kernel};
use workspan_cli::bench::measure::Variant;
use workspan_cli::bench::result::Comparison;
use workspan_cli::bench::runtime::Runtime;
use workspan_cli::bench::runtimes::{Progress, interrupted, prepare, selected};
use workspan_cli::output::print;
use workspan_cli::scale::{Runner, cpus};
use workspan_record::embedded;

use measure::{Measurements, Plan, Subject, measure, title};
use pairs::{Pair, is_blind, pairs};
use table::{KernelRow, PairRow, text};

/// Predicts programs after a known fix and on other workers, measures them, and prints the error of
/// each prediction
#[derive(Debug, Clone, clap::Parser)]
#[command(
    name = "predictions",
    long_about = "Predicts programs after a known fix and on other workers, measures them, and prints the error of each prediction.

Pairs of kernels before and after a fix (serial merge, serial read, unbalanced chunks, too fine tasks): span, parallelism and elapsed \
time after it, predicted from a recorded run before it. And every kernel of `bench runtimes` on every runtime: elapsed time on one \
worker and on two, simulated from one recorded run. Kernels that tuned the simulation's costs are told from those that judge it.",
    after_help = "\
Examples:
  cargo xtask bench predictions
  cargo xtask bench predictions --runtimes rayon,onetbb --repeat 9
  cargo xtask bench predictions --pairs-only"
)]
struct PredictionsArgs {
    /// Runtimes, separated by commas: rayon, libomp, libgomp, onetbb (default: all that are here)
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    runtimes: Vec<String>,
    /// Rounds, each with a bare run on one worker and on two; every other one is recorded, too
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: u32,
    /// Leave out the kernels that have no fix
    #[arg(long)]
    pairs_only: bool,
    /// Only these kernels, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    kernels: Vec<String>,
}

fn main() -> anyhow::Result<ExitCode> {
    let args = PredictionsArgs::parse();
    let mut runtimes = selected(&args.runtimes)?;
    runtimes.retain(|runtime| *runtime != Runtime::Serial);
    let cpus = cpus::in_order()?;
    if cpus.len() < 2 {
        anyhow::bail!("this process may use only one CPU; predictions need two");
    }
    let chosen = |name: &str| args.kernels.is_empty() || args.kernels.iter().any(|k| k == name);
    let mut pairs = pairs();
    pairs.retain(|pair| chosen(pair.kernel.name));
    let mut kernels = kernels::chosen(&["all".to_owned()])?;
    kernels.retain(|kernel| chosen(kernel.name) && !args.pairs_only);
    let folder = embedded::unpack(None)?.folder.join("bench");
    let runs = RunFolder::below(&folder)?;
    let runner = Runner::new(&runs.path)?;
    let progress = Progress::new();
    let mut found = Comparison::default();
    // Each source once, for any arguments.
    let mut sources: Vec<Kernel> = kernels.clone();
    for pair in &pairs {
        if sources.iter().all(|k| k.name != pair.kernel.name) {
            sources.push(pair.kernel);
        }
    }
    let stopped = || runner.stopped();
    let programs = prepare(
        &sources,
        &runtimes,
        (&folder, &runs),
        &mut found,
        &progress,
        &stopped,
    )?;
    let busy = machine::busy().is_some_and(|share| share > 0.2);
    let variants = |name: &str| -> &[Variant] {
        let at = sources.iter().position(|k| k.name == name);
        at.map_or(&[], |at| &programs[at])
    };
    let plan = Plan {
        runner: &runner,
        cpus: &cpus,
        repeat: args.repeat,
        folder: &runs.path,
    };
    let mut session = Session {
        plan,
        progress: &progress,
        warnings: found.warnings,
        steps: (0, kernels.len() + pairs.len()),
    };
    let (mut kernel_rows, mut pair_rows) = (Vec::new(), Vec::new());
    for pair in &pairs {
        pair_rows.extend(session.pair(pair, variants(pair.kernel.name)));
    }
    for kernel in &kernels {
        kernel_rows.extend(session.kernel(kernel, variants(kernel.name)));
    }
    progress.clear();
    if runner.stopped() {
        return Ok(interrupted());
    }
    let mut out = String::new();
    for (_, version) in &found.runtimes {
        out.push_str(&format!("{version}\n"));
    }
    for (runtime, why) in &found.missing {
        out.push_str(&format!("{}: not here: {why}\n", runtime.title()));
    }
    out.push_str(&text(&kernel_rows, &pair_rows));
    if busy {
        out.push_str("\nThe machine was busy before the measuring began: elapsed times may be those of other programs.\n");
    }
    for warning in &session.warnings {
        out.push_str(&format!("\nNot judged: {warning}\n"));
    }
    print(&out)?;
    Ok(ExitCode::SUCCESS)
}

struct Session<'a> {
    plan: Plan<'a>,
    progress: &'a Progress,
    warnings: Vec<String>,
    /// The number of steps done, and of all steps.
    steps: (usize, usize),
}

impl Session<'_> {
    fn measured(&mut self, what: &str, subjects: &[Subject]) -> Vec<Measurements> {
        if self.plan.runner.stopped() {
            return Vec::new();
        }
        self.steps.0 += 1;
        let (step, all) = self.steps;
        self.progress.say(&format!("{step} of {all}: {what}"));
        measure(&self.plan, subjects).unwrap_or_else(|why| {
            self.warnings.push(format!("{what}: {why:#}."));
            Vec::new()
        })
    }

    fn kernel(&mut self, kernel: &Kernel, variants: &[Variant]) -> Vec<KernelRow> {
        let subject = |variant| Subject {
            arguments: kernel.arguments,
            variant,
        };
        let subjects: Vec<Subject> = variants.iter().map(subject).collect();
        let measured = self.measured(kernel.name, &subjects);
        let mut rows = Vec::new();
        for (subject, measured) in subjects.iter().zip(measured) {
            let runtime = subject.variant.runtime;
            match measured.run.and_then(|run| run.elapsed(&[])) {
                Ok(predicted) => rows.push(KernelRow {
                    kernel: kernel.name,
                    runtime,
                    blind: is_blind(kernel.name),
                    predicted,
                    measured: measured.elapsed,
                }),
                Err(why) => self
                    .warnings
                    .push(format!("{}: {why:#}.", title(kernel.name, runtime))),
            }
        }
        rows
    }

    fn pair(&mut self, pair: &Pair, variants: &[Variant]) -> Vec<PairRow> {
        let mut subjects = Vec::new();
        for variant in variants {
            for arguments in [pair.kernel.arguments, pair.after] {
                subjects.push(Subject { arguments, variant });
            }
        }
        let mut measured = self.measured(pair.title, &subjects).into_iter();
        let mut rows = Vec::new();
        for variant in variants {
            let (Some(before), Some(after)) = (measured.next(), measured.next()) else {
                break;
            };
            match judge(pair, variant, before, after) {
                Ok(row) => rows.push(row),
                Err(why) => self
                    .warnings
                    .push(format!("{}: {why:#}.", title(pair.title, variant.runtime))),
            }
        }
        rows
    }
}

fn judge(
    pair: &Pair,
    variant: &Variant,
    before: Measurements,
    after: Measurements,
) -> anyhow::Result<PairRow> {
    let (run, changed) = (before.run?, after.run?);
    let fixes = [run.fix(pair, variant.runtime)?];
    Ok(PairRow {
        title: pair.title,
        runtime: variant.runtime,
        blind: is_blind(pair.kernel.name),
        before: run.logical,
        predicted: run.changed(&fixes)?,
        after: changed.logical,
        elapsed: run.elapsed(&fixes)?,
        measured_before: before.elapsed,
        measured: after.elapsed,
    })
}
