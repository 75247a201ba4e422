//! `workspan stretch`: a run on many workers compared with one on one worker.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use workspan_analysis::Options;
use workspan_analysis::stretch::{Latency, StretchOptions, stretch};
use workspan_dag::TaskKind;
use workspan_export::{StretchTables, stretch_json, stretch_text, titled};

use crate::compare::TextStyle;
use crate::output::print;
use crate::say;
use crate::section::{SectionArgs, section_of};
use crate::trace::Reading;
use workspan_record::progress::Progress;
use workspan_record::units::{ParseError, time};
use workspan_runtimes::{OTHER_THREAD_COUNT_VARIABLES, thread_count_variables};

/// The variables that set a runtime's number of workers, whether it is recorded or not.
pub fn worker_variables() -> impl Iterator<Item = &'static str> {
    thread_count_variables().chain(OTHER_THREAD_COUNT_VARIABLES)
}

/// A kind of table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Table {
    /// Code blocks
    Block,
    /// Spawn sites
    Site,
    /// Levels of the tree of tasks, most work first
    Level,
    /// Regions that the program marked
    Region,
    /// Subtrees
    Subtree,
}

/// Reports how much longer the same work takes on many workers than on one, and where
#[derive(Debug, Clone, clap::Args)]
#[command(
    long_about = "Reports how much longer the same work takes on many workers than on one, and where.

It compares a run on one worker with a parallel run. With `--`, it records both: first the parallel run, then \
one with RAYON_NUM_THREADS, OMP_NUM_THREADS and the like set to 1. The program then runs twice and prints twice.

Tasks are matched by their path in the tree of tasks where the trees are the same, otherwise by spawn site and \
level; the output says how much was matched in which way. The performance loss, workers x elapsed - serial work, \
is divided among its causes without a remainder.",
    after_help = "\
Examples:
  workspan stretch serial.wspan parallel.wspan
  workspan stretch -- cargo run --release -- input.txt
  workspan stretch --workers 8 -o runs -- ./sort 1000000
  workspan stretch --metric page-faults --workers 8 -- ./sort 1000000
  workspan stretch --only region:solve serial.wspan parallel.wspan
  workspan stretch --latency cache_misses=90ns --by level serial.wspan parallel.wspan"
)]
pub struct StretchArgs {
    /// The serial run's trace and the parallel run's
    #[arg(value_names = ["SERIAL", "PARALLEL"], num_args = 2, conflicts_with = "command", required_unless_present = "command")]
    files: Vec<PathBuf>,
    /// The program to record twice, or a cargo command
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
    /// Number of workers of the recorded parallel run (default: the program's own)
    #[arg(long, value_name = "N", requires = "command")]
    workers: Option<u32>,
    /// Record the serial run on one CPU: for oneTBB and other programs that ask the system for the
    /// number of CPUs
    #[arg(long, requires = "command")]
    pin: bool,
    /// Folder for the recorded traces, serial.wspan and parallel.wspan
    #[arg(
        short,
        long,
        value_name = "FOLDER",
        default_value = "workspan-stretch",
        requires = "command"
    )]
    output: PathBuf,
    /// Cost of one event of a counter, to compute how much of the loss its additional events
    /// explain (repeatable)
    #[arg(long, value_name = "COUNTER=TIME", value_parser = latency)]
    latency: Vec<Latency>,
    /// Counters to record in both runs, as in `workspan record --counters` (default: the one of
    /// --metric)
    #[arg(long, value_name = "NAME,...", requires = "command")]
    counters: Option<String>,
    /// What the tables show: time, or a counter that both runs have, by its name
    #[arg(long, value_name = "NAME", default_value = "time")]
    metric: String,
    /// Which tables to show
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WHAT,...")]
    by: Vec<Table>,
    /// Maximum number of rows in a table
    #[arg(long, value_name = "N", default_value_t = 10)]
    rows: usize,
    /// Print one JSON object with stable keys instead of text
    #[arg(long)]
    json: bool,
    /// Do not subtract the recorder's own time
    #[arg(long)]
    raw: bool,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    section: SectionArgs,
    #[command(flatten)]
    looks: TextStyle,
}

impl StretchArgs {
    /// The metric, if it is a counter.
    fn counter(&self) -> Option<&str> {
        (self.metric != "time").then_some(&self.metric)
    }
}

/// `workspan stretch`.
///
/// # Errors
/// A run can't be recorded or read, has no counter of that name, or stdout can't be written.
pub fn run(args: &StretchArgs) -> anyhow::Result<()> {
    let (serial, parallel) = match &args.files[..] {
        [serial, parallel] => (serial.clone(), parallel.clone()),
        _ => record_both(args)?,
    };
    let progress = Progress::new("workspan: reading the traces …");
    let opening = args.reading.each_task();
    let measured = Options {
        raw: args.raw,
        ..Options::default()
    };
    let open = |path: &Path| args.section.open(path, opening.clone(), &measured);
    let (one, many) = (open(&serial)?, open(&parallel)?);
    let recorded = [(&serial, &one), (&parallel, &many)];
    for (file, dag) in recorded.into_iter().filter(|_| args.files.is_empty()) {
        let is_root = |kind: &TaskKind| *kind == TaskKind::Root;
        if dag.tasks.kind.iter().all(is_root) && dag.folded.is_empty() {
            bail!(
                "{}: has no task, so there is nothing to compare",
                file.display()
            );
        }
    }
    let report = workspan_analysis::report(&many, &measured)
        .with_context(|| parallel.display().to_string())?;
    let options = StretchOptions {
        measured,
        latencies: args.latency.clone(),
        metric: args.counter().map(str::to_owned),
    };
    let result = stretch(&one, &many, &report, &options)?;
    drop(progress);
    if args.json {
        return print(&stretch_json(&result, section_of(&many).as_deref()));
    }
    let name = titled(&many.meta, "program");
    let shown = |table: Table| args.by.is_empty() || args.by.contains(&table);
    let tables = StretchTables {
        block: shown(Table::Block),
        site: shown(Table::Site),
        level: shown(Table::Level),
        region: shown(Table::Region),
        subtree: shown(Table::Subtree),
    };
    let looks = args.looks.options(args.rows);
    print(&stretch_text(&result, &name, tables, &looks))
}

/// Records the program on many workers and on one. The parallel run comes first, so that cargo
/// builds on all CPUs.
fn record_both(args: &StretchArgs) -> anyhow::Result<(PathBuf, PathBuf)> {
    let folder = &args.output;
    std::fs::create_dir_all(folder)
        .with_context(|| format!("{}: can't be made", folder.display()))?;
    let parallel = folder.join("parallel.wspan");
    let workers = args.workers.map(|n| n.to_string());
    say!("workspan: recording the parallel run …");
    record(args, &parallel, workers.as_deref())?;
    let serial = folder.join("serial.wspan");
    say!("workspan: recording the serial run …");
    let all = if args.pin { Some(pin()?) } else { None };
    let recorded = record(args, &serial, Some("1"));
    if let Some(all) = all {
        // A failure would only slow down the rest of this process.
        let _ = sched_setaffinity(None, &all);
    }
    recorded?;
    Ok((serial, parallel))
}

fn record(args: &StretchArgs, output: &Path, workers: Option<&str>) -> anyhow::Result<()> {
    // A trace of another run must not be mistaken for this run's.
    match std::fs::remove_file(output) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            return Err(e).with_context(|| format!("{}: can't be replaced", output.display()));
        }
        _ => {}
    }
    let tool = std::env::current_exe().context("this program's own file can't be found")?;
    let mut run = Command::new(tool);
    run.args(["record", "--no-report", "--max-overhead", "off", "-o"])
        .arg(output);
    if let Some(counters) = args.counters.as_deref().or(args.counter()) {
        run.args(["--counters", counters]);
    }
    run.arg("--").args(&args.command);
    if let Some(workers) = workers {
        for variable in worker_variables() {
            run.env(variable, workers);
        }
    }
    let status = run.status().context("the recorder could not be started")?;
    if !output.is_file() {
        bail!("the run left no trace ({status})");
    }
    if !status.success() {
        say!("workspan: the run ended with {status}; its trace is used anyway");
    }
    Ok(())
}

/// Restricts this thread, and everything that it starts, to one of its CPUs. Returns its previous
/// CPUs.
fn pin() -> anyhow::Result<CpuSet> {
    let all = sched_getaffinity(None).context("the CPUs of this process can't be asked")?;
    let first = (0..CpuSet::MAX_CPU)
        .find(|&cpu| all.is_set(cpu))
        .unwrap_or(0);
    let mut one = CpuSet::new();
    one.set(first);
    sched_setaffinity(None, &one).context("the process can't be kept on one CPU")?;
    Ok(all)
}

fn latency(text: &str) -> Result<Latency, ParseError> {
    match text.split_once('=') {
        Some((counter, cost)) if !counter.trim().is_empty() => Ok(Latency {
            counter: counter.trim().to_owned(),
            ns: time(cost)?,
        }),
        _ => Err(ParseError::new(
            text,
            "a latency",
            "a counter and a time, such as cache_misses=373ns",
        )),
    }
}
