//! `workspan lake sql`: queries to all runs of a lake.

use std::io::{BufWriter, Write};
use std::time::Duration;

use anyhow::bail;
use futures::StreamExt;

use crate::command::{Outcome, runtime};
use crate::engine::{Cluster, Engine, NoAnswer};
use crate::output::print;
use crate::print::{Format, Printer};
use crate::root::Root;
use crate::{queries, say, tables};

/// Asks all runs of a lake in SQL
#[derive(Debug, Clone, clap::Args)]
#[command(
    long_about = "Queries all runs of a lake in SQL, with DataFusion in this process.

The tables are those of `workspan sql`, of all runs at once: `run` names the run, `project` and `day` are \
columns of every table, `runs` has the tags `commit` and `branch`, and `tags` has all of them. Tables with a row \
a task, strand or sample are there for runs that were added with --detail. A query may only read.

A file that cannot be read is named, the answer is that of the others, and the exit code is 1.

With --cluster the executors of a cluster of Ballista read the files and compute the answer. ROOT is the same \
path on each of them. If an executor stops without a sign, the scheduler repeats its work elsewhere after its \
--executor-timeout-seconds; --timeout bounds the wait.",
    after_help = "\
Examples:
  workspan lake sql ~/lake --query commits
  workspan lake sql ~/lake --query worse-sites --format csv > worse.csv
  workspan lake sql s3://perf/lake \"select host, avg(parallelism) from runs where branch = 'main' group by host\"
  workspan lake sql ~/lake \"select label, sum(critical_work) from sites where day >= '2026-11-01' group by label\"
  workspan lake sql /shared/lake --query slowest-sites --cluster df://localhost:50050
  workspan lake sql /shared/lake --query ready-times --cluster df://localhost:50050 --timeout 2h
  workspan lake sql --list      # the ready-made queries and their questions
  workspan lake sql --schema    # the tables and their columns"
)]
pub struct SqlArgs {
    /// The lake
    #[arg(value_name = "ROOT", required_unless_present_any = ["list", "schema", "show"])]
    root: Option<String>,
    /// The query
    #[arg(value_name = "QUERY", conflicts_with = "query")]
    sql: Option<String>,
    /// Run a ready-made query
    #[arg(long, value_name = "NAME")]
    query: Option<String>,
    /// List the ready-made queries
    #[arg(long, conflicts_with_all = ["schema", "root", "query"])]
    list: bool,
    /// Show the SQL of a ready-made query instead of asking it
    #[arg(long, requires = "query")]
    show: bool,
    /// Show the tables and their columns
    #[arg(long, conflicts_with_all = ["root", "query"])]
    schema: bool,
    /// Format of the answer
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Most rows of a table
    #[arg(long, value_name = "N", default_value_t = 1000)]
    rows: usize,
    /// Memory for the query; what does not fit goes to temporary files
    #[arg(long, value_name = "SIZE", default_value = "1GB", value_parser = size)]
    memory: usize,
    /// Ask a cluster of Ballista by its scheduler's address, as df://localhost:50050; its executors
    /// have a --memory-pool-size of their own
    #[arg(long, value_name = "ADDRESS", conflicts_with = "memory")]
    cluster: Option<String>,
    /// Longest wait for an answer of the cluster, as 90s, 30m or 2h
    #[arg(long, value_name = "TIME", default_value = "30m", value_parser = time)]
    #[arg(requires = "cluster")]
    timeout: Duration,
}

/// Memory for the queries of the other commands, in bytes.
pub const MEMORY: usize = 1 << 30;

/// Parses a size such as 512MB or 2GB into bytes.
fn size(text: &str) -> Result<usize, String> {
    const UNITS: [(&str, f64); 8] = [
        ("kib", 1024.0),
        ("mib", 1_048_576.0),
        ("gib", 1_073_741_824.0),
        ("kb", 1e3),
        ("mb", 1e6),
        ("gb", 1e9),
        ("b", 1.0),
        ("", 1.0),
    ];
    let lower = text.trim().to_ascii_lowercase();
    let (unit, factor) = UNITS
        .into_iter()
        .find(|(unit, _)| lower.ends_with(unit))
        .unwrap_or(("", 1.0));
    let number = lower[..lower.len() - unit.len()].trim().parse::<f64>();
    match number {
        Ok(number) if (1e6..1e15).contains(&(number * factor)) => Ok((number * factor) as usize),
        _ => Err("expected a size of 1MB or more, as 512MB or 2GB".to_owned()),
    }
}

/// Parses a time such as 90s, 30m or 2h.
fn time(text: &str) -> Result<Duration, String> {
    let units = [("s", 1), ("m", 60), ("h", 3600)];
    let parsed = units.iter().find_map(|(unit, seconds)| {
        let number: u64 = text.trim().strip_suffix(unit)?.trim_end().parse().ok()?;
        number.checked_mul(*seconds)
    });
    match parsed {
        Some(seconds @ 1..=31_536_000) => Ok(Duration::from_secs(seconds)),
        _ => Err("expected a time of 1s or more, as 90s, 30m or 2h".to_owned()),
    }
}

/// Runs `workspan lake sql`.
///
/// # Errors
/// The lake does not exist, the query is wrong or does more than read, or stdout can't be written.
pub fn run(args: &SqlArgs) -> anyhow::Result<Outcome> {
    if args.list {
        print(&queries::list())?;
        return Ok(Outcome::Done);
    }
    if args.schema {
        print(&tables::schema_text())?;
        return Ok(Outcome::Done);
    }
    let query = match (&args.query, &args.sql) {
        (Some(name), _) => queries::ready(name)?.sql,
        (None, Some(sql)) => sql,
        (None, None) => bail!(
            "no query given; for example: workspan lake sql {} --query commits (workspan lake sql --list lists the others)",
            args.root.as_deref().unwrap_or("ROOT")
        ),
    };
    if args.show {
        print(&format!("{query}\n"))?;
        return Ok(Outcome::Done);
    }
    let root = Root::open(args.root.as_deref().unwrap_or_default())?;
    root.must_exist()?;
    let cluster = args.cluster.as_deref();
    let cluster = cluster.map(|address| Cluster::open(address, &root, args.timeout));
    let cluster = cluster.transpose()?;
    runtime()?.block_on(answer(args, root, cluster, query))
}

async fn answer(
    args: &SqlArgs,
    root: Root,
    cluster: Option<Cluster>,
    query: &str,
) -> anyhow::Result<Outcome> {
    let mut engine = Engine::open_with(root, args.memory, cluster).await?;
    let mut out = BufWriter::new(std::io::stdout());
    while let Err(failed) = attempt(args, &mut engine, query, &mut out).await {
        let is_new = failed.may_be_a_file && engine.leave_out_damaged().await?;
        if !is_new || failed.has_written {
            for damage in engine.left_out() {
                say!("{}: {}", damage.file, damage.why);
            }
            let after = if failed.has_written {
                "the answer ends in the middle: "
            } else {
                ""
            };
            return Err(failed.error.context(format!("{after}the query failed")));
        }
    }
    out.flush()?;
    let mut outcome = Outcome::Done;
    for damage in engine.left_out() {
        outcome = Outcome::Failed;
        say!(
            "{}: {}; the answer is without its rows",
            damage.file,
            damage.why
        );
    }
    Ok(outcome)
}

/// A query that failed.
struct Failed {
    error: anyhow::Error,
    /// The query was planned, so a damaged file may be the reason.
    may_be_a_file: bool,
    /// A part of the answer was already written.
    has_written: bool,
}

async fn attempt(
    args: &SqlArgs,
    engine: &mut Engine,
    query: &str,
    out: &mut impl Write,
) -> Result<(), Failed> {
    let failed = |error: anyhow::Error, may_be_a_file, has_written| Failed {
        error,
        may_be_a_file,
        has_written,
    };
    let rows = engine
        .query(query)
        .await
        .map_err(|e| failed(e, false, false))?;
    let columns = std::sync::Arc::clone(rows.schema().inner());
    // What came too late says nothing of the files.
    let may_be = |error: &anyhow::Error| !error.is::<NoAnswer>();
    let stream = engine.execute(rows).await;
    let mut stream = stream.map_err(|e| {
        let may_be_a_file = may_be(&e);
        failed(e, may_be_a_file, false)
    })?;
    let mut printer = Printer::new(args.format, args.rows, &columns, out);
    while let Some(batch) = stream.next().await {
        let batch = batch.map_err(|e| {
            let error = engine.failed(e);
            let may_be_a_file = may_be(&error);
            failed(error, may_be_a_file, printer.has_written())
        })?;
        let written = printer.batch(&batch);
        written.map_err(|e| failed(e.into(), false, true))?;
    }
    printer.finish().map_err(|e| failed(e.into(), false, true))
}
