//! `workspan sql`: queries on runs in SQL.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use workspan_analysis::Options;
use workspan_sql::{Database, Format, Limits, Run, append, is_database, queries, schema};

use crate::output::print;
use crate::say;
use crate::trace::{Reading, open};
use workspan_record::progress::Progress;

/// Format of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum Answer {
    /// Aligned columns
    #[default]
    Table,
    /// Comma-separated values with a heading
    Csv,
    /// A list of objects
    Json,
}

/// Queries runs in SQL: strands, tasks, sites, edges, threads, steals, regions, counters, samples
#[derive(Debug, Clone, clap::Args)]
#[command(
    long_about = "Queries runs in SQL: strands, tasks, sites, edges, threads, steals, regions, counters, samples.

Several traces are several runs, with their number in the column `run`. Times are whole nanoseconds. Queries can \
only read; they cannot write files. Instead of traces, you can query a database that `workspan export --format \
sqlite` wrote.",
    after_help = "\
Examples:
  workspan sql run.wspan \"select level, sum(time) from strands group by level\"
  workspan sql run.wspan --query critical-sites
  workspan sql before.wspan after.wspan --query stretch --format csv > stretch.csv
  workspan sql --list      # the ready-made queries and their questions
  workspan sql --schema    # the tables and their columns"
)]
pub struct SqlArgs {
    /// Traces or one database, then the query
    #[arg(value_names = ["FILE", "QUERY"], required_unless_present_any = ["list", "schema"])]
    given: Vec<String>,
    /// Run a ready-made query
    #[arg(long, value_name = "NAME")]
    query: Option<String>,
    /// List the ready-made queries
    #[arg(long, conflicts_with_all = ["schema", "given", "query"])]
    list: bool,
    /// Show the tables and their columns
    #[arg(long, conflicts_with_all = ["given", "query"])]
    schema: bool,
    /// With --schema: print Markdown
    #[arg(long, requires = "schema")]
    markdown: bool,
    /// Format of the answer
    #[arg(long, value_enum, default_value_t)]
    format: Answer,
    /// Maximum number of rows in a table
    #[arg(long, value_name = "N", default_value_t = 1000)]
    rows: usize,
    /// Do not subtract the recorder's own time
    #[arg(long)]
    raw: bool,
    #[command(flatten)]
    reading: Reading,
}

/// `workspan sql`.
///
/// # Errors
/// A trace can't be read, the query is wrong or does more than reading, or stdout can't be written.
pub fn run(args: &SqlArgs) -> anyhow::Result<()> {
    if args.list {
        return print(&queries::list());
    }
    if args.schema {
        return print(&if args.markdown {
            schema::markdown()
        } else {
            schema::schema()
        });
    }
    let (files, query) = parts(args)?;
    let progress = Progress::new("workspan: reading the traces …");
    let database = match &files[..] {
        [file] if is_database(file) => {
            let database = Database::read_only(file).with_context(|| file.display().to_string())?;
            // A wrong query is reported when it is run.
            let read = database.columns_read_by(&query).unwrap_or_default();
            for text in database.missing_rows_notes(&read) {
                say!("workspan: {text}");
            }
            database
        }
        files => load(args, files, &query)?,
    };
    drop(progress);
    let format = match args.format {
        Answer::Table => Format::Table,
        Answer::Csv => Format::Csv,
        Answer::Json => Format::Json,
    };
    let limits = Limits {
        rows: args.rows,
        ..Limits::default()
    };
    let mut out = BufWriter::new(std::io::stdout().lock());
    database.query(&query, format, &limits, &mut out)?;
    out.flush()?;
    Ok(())
}

fn parts(args: &SqlArgs) -> anyhow::Result<(Vec<PathBuf>, String)> {
    let mut files = args.given.clone();
    let query = match &args.query {
        Some(name) => queries::named(name)?.sql.to_owned(),
        None => files.pop().unwrap_or_default(),
    };
    if files.is_empty() {
        let what = if args.query.is_none() && Path::new(&query).exists() {
            "no query given"
        } else {
            "no trace given"
        };
        bail!(
            "{what}; for example: workspan sql run.wspan \"select level, sum(time) from strands group by level\""
        );
    }
    Ok((files.into_iter().map(PathBuf::from).collect(), query))
}

fn load(args: &SqlArgs, files: &[PathBuf], query: &str) -> anyhow::Result<Database> {
    let mut database = Database::in_memory()?;
    // This comes before any trace is read, because a wrong query needs none.
    let read = database.columns_read_by(query)?;
    let opening = args.reading.each_task();
    let measured = Options {
        raw: args.raw,
        ..Options::default()
    };
    for (file, number) in files.iter().zip(1..) {
        let dag = open(file, &opening)?;
        let run = Run::new(number, file.display().to_string(), dag, &measured)?;
        if let Some(text) = run.missing_rows_note(&read) {
            say!("workspan: {text}");
        }
        database.load(&run, &read)?;
    }
    Ok(database)
}

/// `workspan export --format sqlite`: appends the run to a database.
///
/// # Errors
/// The output exists and is not a database of workspan, or can't be written.
pub(crate) fn export(dag: workspan_dag::Dag, trace: &Path, output: &Path) -> anyhow::Result<()> {
    let _progress = Progress::new("workspan: writing the database …");
    let mut dag = Some(dag);
    let numbers = append::<anyhow::Error>(output, 1, |_, number| {
        let dag = dag.take().context("one run only")?;
        let name = trace.display().to_string();
        Ok(Run::new(number, name, dag, &Options::default())?)
    })?;
    for number in numbers {
        say!("workspan: run {number} of {}", output.display());
    }
    Ok(())
}
