//! `workspan advise`: the changes that reach a parallelism.

use anyhow::{Context, bail};
use workspan_analysis::advise::{Goal, advise};
use workspan_analysis::{Metric, Options, report};
use workspan_dag::Dag;
use workspan_export::{advise_json, advise_text};

use crate::compare::TextStyle;
use crate::output::print;
use crate::section::SectionArgs;
use crate::trace::TraceArgs;
use workspan_record::progress::Progress;
use workspan_record::units::time;

/// Finds the code to change to reach a target parallelism, and the right size of tasks
#[derive(Debug, Clone, clap::Args)]
#[command(
    long_about = "Finds the code to change to reach a target parallelism, and the right size of tasks.

It spreads the code block with the largest share of the critical path over workers, no finer than a steal is \
worth, finds the critical path again, and repeats; then it drops the changes that are not needed. The changes \
are sorted by gain. Each has its place, its kind, and the parallelism and time that it leads to.",
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
    /// Number of cores to run on (default: the run's workers)
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u32).range(1..))]
    cores: Option<u32>,
    /// Cost of creating a task (default: the cost of a probe in the trace, which is similar)
    #[arg(long, value_name = "TIME", value_parser = time)]
    spawn_cost: Option<f64>,
    /// The metric for the critical path: time, or a counter of the trace by its name (with a
    /// counter there is no advice on the size of tasks and the number of workers)
    #[arg(long, value_name = "NAME", default_value = "time")]
    metric: String,
    /// Cost of a steal, in the trace's time unit or in counts of the metric (default: the cost in
    /// the trace)
    #[arg(long, value_name = "N")]
    burden: Option<u64>,
    /// Print one JSON object with stable keys instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    looks: TextStyle,
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
            "{}: has no critical path, because all its strands have no weight",
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
