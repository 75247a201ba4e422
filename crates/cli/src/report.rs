//! `workspan report`.

use std::io::{IsTerminal, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use workspan_analysis::causes::Baseline;
use workspan_analysis::statistics::statistics;
use workspan_analysis::{Metric, Options, report_against};
use workspan_export::{
    TextOptions, report_json_with, report_text, screen_text, statistics_text, table_json,
    table_text,
};
use workspan_reader::formats::{Format, Table};

use crate::output::{Color, charset, print, width};
use crate::section::SectionArgs;
use crate::trace::{Reading, TraceArgs, describe, open};

/// Default number of spawn sites in the long report.
const DEFAULT_SITES: usize = 10;

/// Reports what limits a recorded program, at which line, with the evidence
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  workspan report run.wspan
  workspan report --json run.wspan | jq .parallelism
  workspan report --long run.wspan                        # every table
  workspan report --burden 2000 --sites 30 run.wspan
  workspan report --statistics run.wspan                  # lengths, ready times, queues, who stole from whom
  workspan report --only region:solve run.wspan           # of this section alone (`workspan help section`)
  workspan report --serial serial.wspan run.wspan         # what took longer than in a run on one worker, too
  workspan report --metric instructions simulated.jsonl   # a text trace's counter")]
pub struct ReportArgs {
    #[command(flatten)]
    trace: TraceArgs,
    #[command(flatten)]
    section: SectionArgs,
    /// Print one JSON object with stable keys instead of text
    #[arg(long)]
    json: bool,
    /// What to measure: time, or a counter of the trace by its name
    #[arg(long, value_name = "NAME", default_value = "time")]
    metric: String,
    /// Cost of a steal, in the trace's time unit or in counts of the metric (default: the cost in
    /// the trace)
    #[arg(long, value_name = "N")]
    burden: Option<u64>,
    /// Maximum number of spawn sites to show (default 10); implies --long
    #[arg(long, value_name = "N")]
    sites: Option<usize>,
    /// Do not subtract the recorder's own time
    #[arg(long)]
    raw: bool,
    /// Count blocked time (I/O, locks) as work
    #[arg(long)]
    count_blocked: bool,
    /// Print every table: breakdown, spawn sites, lines, low parallelism (default: one screen)
    #[arg(long)]
    long: bool,
    /// Add statistics: lengths of strands and tasks, ready times, queue depth, steals (in JSON: the
    /// key `statistics`)
    #[arg(long)]
    statistics: bool,
    /// A run of the program on one worker; the additional time that the same code takes here counts
    /// as lost, with the cause `stretch`
    #[arg(long, value_name = "FILE")]
    serial: Option<PathBuf>,
    /// Use ASCII characters only
    #[arg(long)]
    ascii: bool,
    /// Colours
    #[arg(long, value_name = "WHEN", value_enum, default_value_t)]
    color: Color,
}

/// `workspan report`.
///
/// # Errors
/// A trace can't be read or has no such metric, a serial run is given for a metric other than time,
/// or stdout can't be written.
pub fn run(args: &ReportArgs) -> anyhow::Result<()> {
    if args.serial.is_some() && args.metric != "time" {
        bail!("--serial compares times; leave --metric out");
    }
    if let Some((table, format)) = workspan_reader::formats::table(&args.trace.file)? {
        return show_table(args, &table, format);
    }
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
    // Lengths and ready times need individual tasks.
    let reading = &args.trace.reading;
    let opening = match args.statistics {
        true => reading.each_task(),
        false => reading.measured(args.raw),
    };
    let dag = args.section.open(&args.trace.file, opening, &measured)?;
    let of_file = || args.trace.file.display().to_string();
    let baseline = match &args.serial {
        Some(serial) => Some(baseline(serial, args, &measured)?),
        None => None,
    };
    let report = report_against(&dag, &measured, baseline.as_ref()).with_context(of_file)?;
    let statistics = if args.statistics {
        Some(statistics(&dag, &measured).with_context(of_file)?)
    } else {
        None
    };
    if args.json {
        let json = report_json_with(&dag, &report, &measured, statistics.as_ref());
        return print(&json);
    }
    // With --statistics every task is read; for text traces this is always the case.
    let each_task = args.statistics && dag.meta.recorded;
    let reading = Reading {
        full: args.trace.reading.grain.is_none() && (args.trace.reading.full || each_task),
        ..args.trace.reading.clone()
    };
    let stdout = std::io::stdout();
    let options = TextOptions {
        width: width(&stdout),
        color: args.color.applies(&stdout),
        charset: charset(args.ascii, &stdout),
        sites: args.sites.unwrap_or(DEFAULT_SITES),
        trace: Some(describe(&args.trace.file, &reading)?),
    };
    let is_long = args.long || args.sites.is_some();
    let formatted = if is_long { report_text } else { screen_text };
    let mut text = formatted(&dag, &report, &measured, &options);
    if let Some(statistics) = &statistics {
        text.push_str(&statistics_text(&dag, statistics, &measured, &options));
    }
    print(&text)
}

/// Shows the results of another tool, which can't be measured further.
fn show_table(args: &ReportArgs, table: &Table, format: &Format) -> anyhow::Result<()> {
    if args.json {
        return print(&table_json(table, format));
    }
    let stdout = std::io::stdout();
    let options = TextOptions {
        width: width(&stdout),
        color: args.color.applies(&stdout),
        charset: charset(args.ascii, &stdout),
        sites: args.sites.unwrap_or(DEFAULT_SITES),
        trace: Some(describe(&args.trace.file, &args.trace.reading)?),
    };
    print(&table_text(table, format, &options))
}

/// The work of the serial run at `path`. Its DAG is freed before the run itself is measured.
fn baseline(path: &Path, args: &ReportArgs, measured: &Options) -> anyhow::Result<Baseline> {
    let opening = args.trace.reading.measured(args.raw);
    let serial = args.section.open(path, opening, measured)?;
    Baseline::measure(&serial, measured).with_context(|| path.display().to_string())
}

/// Prints the report of the trace at `path` that fits on a screen, as `record` does after a run:
/// with default measures, and in a format that suits `out`.
///
/// # Errors
/// The trace can't be read or `out` can't be written.
pub fn print_for(path: &Path, out: &mut (impl Write + IsTerminal + AsFd)) -> anyhow::Result<()> {
    let dag = open(path, &Reading::default().measured(false))?;
    let measured = Options::default();
    let report = workspan_analysis::report(&dag, &measured)?;
    let options = TextOptions {
        width: width(out),
        color: Color::Auto.applies(out),
        charset: charset(false, out),
        trace: Some(describe(path, &Reading::default())?),
        ..TextOptions::default()
    };
    out.write_all(screen_text(&dag, &report, &measured, &options).as_bytes())?;
    out.flush()?;
    Ok(())
}
