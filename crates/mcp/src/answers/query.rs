//! `query`: runs an SQL query.

use std::time::Duration;

use anyhow::bail;
use workspan_analysis::Options;
use workspan_reader::open::Grain;
use workspan_sql::{Database, Format, Limits, Run, queries, schema};

use super::trace;
use crate::Shared;
use crate::runs::open;
use crate::tools::QueryArgs;

const DEFAULT_ROWS: usize = 30;
const MAX_ROWS: usize = 200;
/// Maximum number of characters of a cell.
const MAX_CELL_CHARS: usize = 120;
/// Maximum number of runs of a query.
const MAX_RUNS: usize = 8;
/// Maximum time of a query; a longer one is ended.
const MAX_TIME: Duration = Duration::from_secs(30);

pub(crate) fn answer(shared: &Shared, args: &QueryArgs) -> anyhow::Result<String> {
    let query = match (&args.sql, &args.name) {
        (None, None) => return Ok(format!("{}\n{}", schema::schema(), queries::list())),
        (Some(sql), None) => sql.clone(),
        (None, Some(name)) => queries::named(name)?.sql.to_owned(),
        (Some(_), Some(_)) => bail!("give `sql` or `name`, not both"),
    };
    if args.traces.len() > MAX_RUNS {
        bail!("at most {MAX_RUNS} traces at once");
    }
    let paths = if args.traces.is_empty() {
        vec![trace(shared, None)?]
    } else {
        let traces = args.traces.iter();
        traces
            .map(|name| trace(shared, Some(name)))
            .collect::<anyhow::Result<_>>()?
    };
    let mut database = Database::in_memory()?;
    let read = database.columns_read_by(&query)?;
    let mut answer = Vec::new();
    for (path, number) in paths.iter().zip(1..) {
        let dag = open(path, Grain::None)?;
        let run = Run::new(number, shared.folders.shown(path), dag, &Options::default())?;
        if let Some(note) = run.missing_rows_note(&read) {
            answer.extend_from_slice(note.as_bytes());
            answer.push(b'\n');
        }
        database.load(&run, &read)?;
    }
    let limits = Limits {
        rows: args.rows.unwrap_or(DEFAULT_ROWS).min(MAX_ROWS),
        cell: MAX_CELL_CHARS,
        time: Some(MAX_TIME),
    };
    database.query(&query, Format::Table, &limits, &mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
