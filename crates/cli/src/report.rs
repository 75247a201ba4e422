//! `workspan report`.

use std::io::{IsTerminal, Write};
use std::path::Path;

use anyhow::Context;
use workspan_analysis::{Metric, Options};
use workspan_dag::OpenOptions;
use workspan_export::{TextOptions, report_json, report_text};

use crate::output::{Color, charset, print};
use crate::trace::{TraceArgs, describe, open};

/// Says what limits the recorded program, at which line, and shows the evidence
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  workspan report run.wspan
  workspan report --json run.wspan | jq .parallelism
  workspan report --burden 2000 --sites 30 run.wspan
  workspan report --metric instructions simulated.jsonl   # a text trace's counter")]
pub struct ReportArgs {
    #[command(flatten)]
    trace: TraceArgs,
    /// Print one JSON object with stable keys instead of text
    #[arg(long)]
    json: bool,
    /// What is measured: time, or a counter of the trace by name
    #[arg(long, value_name = "NAME", default_value = "time")]
    metric: String,
    /// Cost of a steal in the trace's time unit or the metric's count (default: the one stored in the trace)
    #[arg(long, value_name = "N")]
    burden: Option<u64>,
    /// Most spawn sites shown
    #[arg(long, value_name = "N", default_value_t = 10)]
    sites: usize,
    /// Leave the recorder's own time in the measures
    #[arg(long)]
    raw: bool,
    /// Count time blocked (I/O, locks) as work
    #[arg(long)]
    count_blocked: bool,
    /// Nothing but ASCII
    #[arg(long)]
    ascii: bool,
    /// Colours
    #[arg(long, value_name = "WHEN", value_enum, default_value_t)]
    color: Color,
}

/// `workspan report`.
///
/// # Errors
/// The trace can't be read, has no such metric, or stdout can't be written.
pub fn run(args: &ReportArgs) -> anyhow::Result<()> {
    let dag = args.trace.open()?;
    let metric = match args.metric.as_str() {
        "time" => Metric::Time,
        name => Metric::Counter(name.to_string()),
    };
    let measured = Options {
        metric,
        burden: args.burden,
        raw: args.raw,
        count_blocked: args.count_blocked,
    };
    let report = workspan_analysis::report(&dag, &measured)
        .with_context(|| args.trace.file.display().to_string())?;
    if args.json {
        return print(&report_json(&dag, &report, &measured));
    }
    let stdout = std::io::stdout();
    let options = TextOptions {
        color: args.color.applies(&stdout),
        charset: charset(args.ascii, &stdout),
        sites: args.sites,
        trace: Some(describe(&args.trace.file)?),
        ..TextOptions::default()
    };
    print(&report_text(&dag, &report, &measured, &options))
}

/// The text report of the trace at `path` as `record` shows it after a run: default measures, looks by what `out` is.
///
/// # Errors
/// The trace can't be read or `out` can't be written.
pub fn print_for(path: &Path, out: &mut (impl Write + IsTerminal)) -> anyhow::Result<()> {
    let dag = open(path, &OpenOptions::default())?;
    let measured = Options::default();
    let report = workspan_analysis::report(&dag, &measured)?;
    let options = TextOptions {
        color: Color::Auto.applies(out),
        charset: charset(false, out),
        trace: Some(describe(path)?),
        ..TextOptions::default()
    };
    out.write_all(report_text(&dag, &report, &measured, &options).as_bytes())?;
    out.flush()?;
    Ok(())
}
