//! The prepared queries of `workspan sql` have the same answers in a lake as in SQLite.

use std::collections::BTreeMap;
use std::path::Path;

use workspan_analysis::Options;
use workspan_reader::OpenOptions;
use workspan_sql::queries::QUERIES;
use workspan_sql::{Database, Format, Limits, Run};

use crate::{add, printed, rows, traces};

/// Rows without their order and the last digits of their numbers: sums of fractions depend on the
/// order in which an engine adds.
pub fn normal(rows: impl Iterator<Item = Vec<String>>) -> Vec<Vec<String>> {
    let cell = |cell: String| match cell.parse::<f64>() {
        Ok(number) => format!("{number:.6e}"),
        Err(_) => cell,
    };
    let mut rows: Vec<Vec<String>> = rows
        .map(|row| row.into_iter().map(cell).collect())
        .collect();
    rows.sort();
    rows
}

/// The cells of CSV lines without quotes; no answer here has any.
pub fn cells(csv: &str) -> impl Iterator<Item = Vec<String>> {
    let lines = csv.lines().skip(1).filter(|line| !line.trim().is_empty());
    lines.map(|line| line.trim_end().split(',').map(str::to_owned).collect())
}

/// The lake's rows for a prepared query.
pub fn answer(root: &Path, query: &str) -> Vec<Vec<String>> {
    answer_of(root, query, &[])
}

/// The lake's rows for a prepared query, with further arguments.
pub fn answer_of(root: &Path, query: &str, more: &[&str]) -> Vec<Vec<String>> {
    let root = root.to_str().unwrap();
    let arguments = ["sql", root, "--query", query, "--format", "csv"];
    let csv = printed(&[&arguments, more].concat());
    normal(cells(&csv))
}

/// The runs of a lake, numbered from 1 in the order of their names, and the names by number.
fn runs(root: &Path) -> (Vec<Run>, BTreeMap<String, String>) {
    let listed = rows(root, "select run, file from runs order by run");
    let mut listed: Vec<(&str, &str)> = listed
        .iter()
        .map(|row| row.split_once(',').unwrap())
        .collect();
    listed.sort_unstable();
    let (mut runs, mut names) = (Vec::new(), BTreeMap::new());
    for ((name, file), number) in listed.into_iter().zip(1..) {
        let dag = workspan_reader::open(Path::new(file), &OpenOptions::default()).unwrap();
        runs.push(Run::new(number, file.to_owned(), dag, &Options::default()).unwrap());
        names.insert(number.to_string(), name.to_owned());
    }
    (runs, names)
}

#[test]
fn every_ready_query_has_the_rows_that_sqlite_has() {
    let folder = tempfile::tempdir().unwrap();
    let (root, traces) = (folder.path().join("lake"), traces(folder.path(), 10));
    add(&root, &traces, &["--detail"]);
    same_rows(&root);
}

/// Compares the answers to all prepared queries that both have.
pub fn same_rows(root: &Path) {
    let mut with_rows = 0;
    let (runs, names) = runs(root);
    for query in QUERIES.iter().filter(|query| query.name != "stretch") {
        let mut database = Database::in_memory().unwrap();
        let read = database.columns_read_by(query.sql).unwrap();
        for run in &runs {
            database.load(run, &read).unwrap();
        }
        let mut out = Vec::new();
        let everything = Limits {
            rows: usize::MAX,
            ..Limits::default()
        };
        database
            .query(query.sql, Format::Csv, &everything, &mut out)
            .unwrap();
        let sqlite = cells(std::str::from_utf8(&out).unwrap()).map(|mut row| {
            row[0] = names[&row[0]].clone();
            row
        });
        let sqlite = normal(sqlite.collect::<Vec<_>>().into_iter());
        let lake = answer(root, query.name);
        assert_eq!(lake, sqlite, "{}", query.name);
        with_rows += usize::from(!lake.is_empty());
    }
    assert!(with_rows > 15, "only {with_rows} queries had rows");
}
