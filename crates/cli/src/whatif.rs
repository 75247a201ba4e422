//! `workspan whatif`: predicts the gain of faster code.

use anyhow::{Context, bail};
use workspan_analysis::named_code::{self, LineRange, line_range};
use workspan_analysis::{DEFAULT_FACTORS, Metric, Options, Target, faster_sites, limits, what_if};
use workspan_dag::Dag;
use workspan_export::{WhatIfView, what_if_json, what_if_text};

use crate::compare::TextStyle;
use crate::output::print;
use crate::section::SectionArgs;
use crate::trace::TraceArgs;
use workspan_record::progress::Progress;

/// Predicts the parallelism and speedup if some code were faster, before you write the fix
#[derive(Debug, Clone, clap::Args)]
#[command(
    long_about = "Predicts the parallelism and speedup if some code were faster, before you write the fix.

For each factor, the code's weight on the heaviest path is divided by it, and the heaviest path is found again. \
The work stays the same, as if the code were spread over that many workers. Each site, range and region is \
computed alone, then all of them together; with none given, the regions that the program marked.",
    after_help = "\
Examples:
  workspan whatif run.wspan --lines src/sort.rs:43-50
  workspan whatif run.wspan --site src/sort.rs:37 --subtree --factors 2,4,8
  workspan whatif run.wspan --region \"read input\" --lines src/io.rs:10-40 --workers 8,64
  workspan whatif run.wspan --only part:solve --lines src/sort.rs:43-50
  workspan whatif run.wspan --lines src/sort.rs:43-50 --by-site 4    # and the profile of each spawn site then
  workspan whatif run.wspan --lock src/cache.rs:41
  workspan whatif run.wspan --json | jq '.all[0].parallelism'"
)]
pub struct WhatifArgs {
    #[command(flatten)]
    trace: TraceArgs,
    #[command(flatten)]
    section: SectionArgs,
    /// The strands of tasks created at this spawn site, by its name in the report (`root`: the root
    /// task); repeatable
    #[arg(long, value_name = "SITE")]
    site: Vec<String>,
    /// Source lines: their share of each strand according to samples, or strands that begin there;
    /// repeatable
    #[arg(long, value_name = "FILE:FROM-TO", value_parser = line_range)]
    lines: Vec<LineRange>,
    /// A lock, by a line where threads waited for it or released it: what its holders did while
    /// others waited; repeatable
    #[arg(long, value_name = "FILE:LINE", value_parser = line_range)]
    lock: Vec<LineRange>,
    /// A code block, by its name in the report: `root: wait src/sort.rs:37 -> end`; repeatable
    #[arg(long, value_name = "SITE: FROM -> TO")]
    block: Vec<String>,
    /// A region that the program marked; repeatable
    #[arg(long, value_name = "NAME")]
    region: Vec<String>,
    /// With --site: include the tasks' descendants
    #[arg(long, requires = "site")]
    subtree: bool,
    /// Factors: how many times faster the code becomes
    #[arg(long, value_name = "K,...", value_delimiter = ',', value_parser = factor, default_values_t = DEFAULT_FACTORS)]
    factors: Vec<f64>,
    /// Add a table with each spawn site's work, span, parallelism and share of the critical path,
    /// now and with all of it K times as fast
    #[arg(long, value_name = "K", value_parser = factor)]
    by_site: Option<f64>,
    /// Numbers of workers for the speedup bounds (default: the run's own, 16 and 64)
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    workers: Vec<u32>,
    /// What to measure: time, or a counter of the trace by its name
    #[arg(long, value_name = "NAME", default_value = "time")]
    metric: String,
    /// Cost of a steal, in the trace's time unit or in counts of the metric (default: the cost in
    /// the trace)
    #[arg(long, value_name = "N")]
    burden: Option<u64>,
    /// Do not subtract the recorder's own time
    #[arg(long)]
    raw: bool,
    /// Count blocked time (I/O, locks) as work
    #[arg(long)]
    count_blocked: bool,
    /// Print one JSON object with stable keys instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    looks: TextStyle,
}

/// `workspan whatif`.
///
/// # Errors
/// The trace can't be read, has no such site, lines, region or metric, has no critical path, or
/// stdout can't be written.
pub fn run(args: &WhatifArgs) -> anyhow::Result<()> {
    let progress = Progress::new("workspan: reading the trace …");
    let of_file = || args.trace.file.display().to_string();
    let measured = Options {
        metric: match args.metric.as_str() {
            "time" => Metric::Time,
            name => Metric::Counter(name.to_owned()),
        },
        burden: args.burden,
        raw: args.raw,
        count_blocked: args.count_blocked,
    };
    let opening = args.trace.reading.measured(args.raw);
    let dag = args.section.open(&args.trace.file, opening, &measured)?;
    let (targets, names) = targets(&dag, args).with_context(of_file)?;
    let result = what_if(&dag, &measured, &targets, &args.factors).with_context(of_file)?;
    let limits = limits(&dag, &measured).with_context(of_file)?;
    let sites = match args.by_site {
        Some(factor) => {
            Some(faster_sites(&dag, &measured, &targets, factor).with_context(of_file)?)
        }
        None => None,
    };
    drop(progress);
    if result.now.span <= 0.0 {
        bail!(
            "{}: has no critical path, because all its strands have no weight",
            of_file()
        );
    }
    let view = WhatIfView {
        dag: &dag,
        measured: &measured,
        result: &result,
        limits: &limits,
        sites: args.by_site.zip(sites.as_deref()),
        names: &names,
        workers: &workers(&dag, &args.workers),
    };
    if args.json {
        return print(&what_if_json(&view));
    }
    print(&what_if_text(&view, &args.looks.options(usize::MAX)))
}

/// The targets of the request, and their names.
fn targets(dag: &Dag, args: &WhatifArgs) -> anyhow::Result<(Vec<Target>, Vec<String>)> {
    let (mut targets, mut names) = (Vec::new(), Vec::new());
    for name in &args.site {
        targets.push(named_code::site(dag, name, args.subtree)?);
        names.push(name.clone());
    }
    for range in &args.lines {
        targets.push(named_code::lines(dag, range)?);
        names.push(if range.from == range.to {
            format!("{}:{}", range.file, range.from)
        } else {
            format!("{}:{}-{}", range.file, range.from, range.to)
        });
    }
    for range in &args.lock {
        targets.push(named_code::lock(dag, range)?);
        names.push(format!("lock at {}:{}", range.file, range.from));
    }
    for name in &args.block {
        targets.push(named_code::block(dag, name)?);
        names.push(name.clone());
    }
    for name in &args.region {
        targets.push(named_code::region(dag, name)?);
        names.push(name.clone());
    }
    if targets.is_empty() {
        for label in named_code::region_labels(dag) {
            targets.push(Target::Region(label));
            names.push(dag.labels[label as usize].clone());
        }
    }
    if targets.is_empty() {
        bail!(
            "the program marked no regions; choose the code to make faster with --site SITE or --lines FILE:FROM-TO \
            (`workspan report` lists the sites, `workspan advise` finds worthwhile ones)"
        );
    }
    Ok((targets, names))
}

/// The given numbers; by default the run's own number, 16 and 64.
fn workers(dag: &Dag, given: &[u32]) -> Vec<u32> {
    if !given.is_empty() {
        return given.to_vec();
    }
    let mut workers = vec![dag.meta.workers.max(1), 16, 64];
    workers.sort_unstable();
    workers.dedup();
    workers
}

/// Parses a factor of the command line.
///
/// # Errors
/// The text is not a positive number.
pub fn factor(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches(['x', 'X']);
    match number.parse::<f64>() {
        Ok(factor) if factor.is_finite() && factor > 0.0 => Ok(factor),
        _ => Err(format!(
            "`{text}` is not a factor; expected a positive number, such as 2 for twice as fast"
        )),
    }
}
