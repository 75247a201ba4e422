//! `sql`: a query to the tables of a run, and the prepared queries.

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use workspan_sql::{Database, Error, Format, Limits, schema};

use crate::answer::Reply;
use crate::api_error::ApiError;
use crate::run::Run;

/// Maximum number of rows in an answer. The page shows them all in one table.
const MAX_ROWS: usize = 2_000;
const MAX_TIME: Duration = Duration::from_secs(20);

#[derive(Serialize)]
struct Answer {
    columns: Vec<String>,
    /// Cells in the order of the columns: text, numbers or null.
    rows: Vec<Vec<Value>>,
    /// The query has more rows than the answer.
    more: bool,
    /// A sentence on data that the tables lack.
    note: Option<String>,
}

#[derive(Serialize)]
struct Queries {
    queries: Vec<Ready>,
    schema: String,
}

#[derive(Serialize)]
struct Ready {
    name: &'static str,
    about: &'static str,
    sql: &'static str,
}

/// The prepared queries, and the tables with their columns.
pub(crate) fn queries() -> Result<Reply, ApiError> {
    let ready = workspan_sql::queries::QUERIES.iter().map(|q| Ready {
        name: q.name,
        about: q.about,
        sql: q.sql,
    });
    Reply::json(&Queries {
        queries: ready.collect(),
        schema: schema::schema(),
    })
}

/// The rows that `query` selects from the tables of `run`.
pub(crate) fn answer(run: &Run, query: &str) -> Result<Reply, ApiError> {
    let query = query.trim().trim_end_matches(';');
    let mut database = Database::in_memory().map_err(failed)?;
    let read = database.columns_read_by(query).map_err(failed)?;
    let model = run.model()?;
    let dag = (*model.dag).clone();
    let tables = workspan_sql::Run::new(1, run.file_name(), dag, &model.options);
    let tables = tables.map_err(failed)?;
    database.load(&tables, &read).map_err(failed)?;
    let limits = Limits {
        time: Some(MAX_TIME),
        ..Limits::default()
    };
    let few = format!("SELECT * FROM (\n{query}\n) LIMIT {}", MAX_ROWS + 1);
    let mut csv = Vec::new();
    database
        .query(&few, Format::Csv, &limits, &mut csv)
        .map_err(failed)?;
    let mut lines = records(&String::from_utf8_lossy(&csv));
    if lines.is_empty() {
        lines.push(Vec::new());
    }
    let columns = lines.remove(0);
    let more = lines.len() > MAX_ROWS;
    lines.truncate(MAX_ROWS);
    let rows = lines.into_iter();
    Reply::json(&Answer {
        columns,
        rows: rows.map(|r| r.into_iter().map(value).collect()).collect(),
        more,
        note: tables.missing_rows_note(&read),
    })
}

fn failed(error: Error) -> ApiError {
    ApiError::bad_request(error.to_string())
}

fn value(cell: String) -> Value {
    if cell.is_empty() {
        return Value::Null;
    }
    let number = cell.parse::<serde_json::Number>();
    number.map_or_else(|_| Value::String(cell), Value::Number)
}

/// The fields of each record of a CSV text (RFC 4180).
fn records(text: &str) -> Vec<Vec<String>> {
    let mut records = Vec::new();
    let mut record = Vec::new();
    let mut field = String::new();
    let mut quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                field.push('"');
                chars.next();
            }
            '"' => quoted = !quoted,
            ',' if !quoted => record.push(std::mem::take(&mut field)),
            '\r' if !quoted => {}
            '\n' if !quoted => {
                record.push(std::mem::take(&mut field));
                records.push(std::mem::take(&mut record));
            }
            c => field.push(c),
        }
    }
    records
}

#[cfg(test)]
mod tests {
    use super::records;

    #[test]
    fn fields_may_hold_what_separates_fields() {
        let read = records("a,b\r\n\"x, \"\"y\"\"\",\"two\nlines\"\r\n,1\r\n");
        let expected: [&[&str]; 3] = [&["a", "b"], &["x, \"y\"", "two\nlines"], &["", "1"]];
        assert_eq!(read, expected);
    }
}
