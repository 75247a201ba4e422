//! `workspan advise`: the changes that reach a parallelism.

use anyhow::{Context, bail};
use workspan_analysis::advise::{Goal, advise};
use workspan_analysis::{Metric, Options, report};
use workspan_dag::Dag;
use workspan_export::{advise_json, advise_text};

use crate::compare::Looks;
use crate::output::print;
use crate::section::SectionArgs;
use crate::trace::TraceArgs;
use workspan_record::progress::Progress;
use workspan_record::units::time;

/// Finds the code whose change reaches a wanted parallelism, and says how large tasks should be
#[derive(Debug, Clone, clap::Args)]
#[command(
    long_about = "Finds the code whose change reaches a wanted parallelism, and says how large tasks should be.

Takes the code block that weighs most on the critical path as spread over workers, no finer than a steal is worth, finds the \
path again, and so on; then drops what is not needed. The changes are listed by what they gain, each with its place, its kind, \
and what parallelism and time it leads to.",
    after_help = "\
Examples:
  workspan advise run.wspan
  workspan advise run.wspan --cores 64
  workspan advise run.wspan --only region:solve
  workspan advise run.wspan --metric instructions
  workspan advise run.wspan --target-parallelism 100 --json"
)]
pub struct AdviseArgs {
    #[command(flatten)]
    trace: TraceArgs,
    #[command(flatten)]
    section: SectionArgs,
    /// Parallelism to reach (default: the number of cores)
    #[arg(long, value_name = "N", value_parser = parallelism)]
    target_parallelism: Option<f64>,
    /// Cores it is to run on (default: the run's workers)
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u32).range(1..))]
    cores: Option<u32>,
    /// What creating a task costs (default: what a probe costs in the trace, which is of that size)
    #[arg(long, value_name = "TIME", value_parser = time)]
    spawn_cost: Option<f64>,
    /// What the critical path is weighed by: time, or a counter of the trace by name (without
    /// advice on the size of tasks and the number of workers)
    #[arg(long, value_name = "NAME", default_value = "time")]
    metric: String,
    /// Cost of a steal in the trace's time unit or the metric's count (default: the one stored in
    /// the trace)
    #[arg(long, value_name = "N")]
    burden: Option<u64>,
    /// Print one JSON object with stable keys instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    looks: Looks,
}

/// `workspan advise`.
///
/// # Errors
/// The trace can't be read or has no critical path, or stdout can't be written.
pub fn run(args: &AdviseArgs) -> anyhow::Result<()> {
    let progress = Progress::new("workspan: reading the trace …");
    let of_file = || args.trace.file.display().to_string();
    let counter = (args.metric != "time").then_some(args.metric.as_str());
    if counter.is_some() && args.spawn_cost.is_some() {
        bail!(
            "--spawn-cost is a time; leave it out with --metric {}",
            args.metric
        );
    }
    let measured = Options {
        metric: counter.map_or(Metric::Time, |name| Metric::Counter(name.to_owned())),
        burden: args.burden,
        ..Options::default()
    };
    let opening = args.trace.reading.measured(false);
    let dag = args.section.open(&args.trace.file, opening, &measured)?;
    let report = report(&dag, &measured).with_context(of_file)?;
    if report.work_span.span == 0 {
        bail!(
            "{}: has no critical path: all its strands weigh nothing",
            of_file()
        );
    }
    let cores = args.cores.unwrap_or(dag.meta.workers.max(1));
    let goal = Goal {
        parallelism: args.target_parallelism.unwrap_or(f64::from(cores)),
        cores,
        spawn_cost: args.spawn_cost.map(|ns| ticks(&dag, ns)),
    };
    let advice = advise(&dag, &measured, &report, goal).with_context(of_file)?;
    drop(progress);
    if args.json {
        return print(&advise_json(&dag, &advice, counter));
    }
    let looks = args.looks.options(usize::MAX);
    print(&advise_text(&dag, &advice, counter, &looks))
}

/// Nanoseconds in the trace's ticks.
pub(crate) fn ticks(dag: &Dag, ns: f64) -> u64 {
    let rate = match dag.meta.ticks_per_second {
        0 => 1e9,
        rate => rate as f64,
    };
    // A cast from f64 saturates.
    (ns * rate / 1e9).round() as u64
}

fn parallelism(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(v) if v.is_finite() && v >= 1.0 => Ok(v),
        _ => Err(format!(
            "`{text}` is not a parallelism; expected a number of at least 1"
        )),
    }
}
