//! The ready queries of `workspan sql` have the same answers in a lake as in SQLite.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use workspan_analysis::Options;
use workspan_reader::OpenOptions;
use workspan_sql::queries::QUERIES;
use workspan_sql::{Database, Format, Limits, Run};

use crate::{add, printed, rows, traces};

/// Rows whose order and last digits do not count: sums of numbers with fractions depend on the
/// order in which an engine adds them up.
pub fn normal(rows: impl Iterator<Item = Vec<String>>) -> Vec<Vec<String>> {
    let cell = |cell: String| match cell.parse::<f64>() {
        Ok(number) if cell.contains('.') => format!("{number:.6e}"),
        Ok(number) => format!("{number:.6e}"),
        Err(_) => cell,
    };
    let mut rows: Vec<Vec<String>> = rows
        .map(|row| row.into_iter().map(cell).collect())
        .collect();
    rows.sort();
    rows
}

/// Lines of CSV whose cells have no quotes; none of these answers has.
pub fn cells(csv: &str) -> impl Iterator<Item = Vec<String>> {
    let lines = csv.lines().skip(1).filter(|line| !line.trim().is_empty());
    lines.map(|line| line.trim_end().split(',').map(str::to_owned).collect())
}

/// The runs of a lake in SQLite, numbered in the order of their names.
fn database(root: &Path, query: &str) -> (Database, BTreeMap<String, String>) {
    let mut names: Vec<(String, PathBuf)> = rows(root, "select run, file from runs order by run")
        .iter()
        .map(|row| {
            row.split_once(',')
                .map(|(a, b)| (a.to_owned(), PathBuf::from(b)))
                .unwrap()
        })
        .collect();
    names.sort();
    let mut database = Database::in_memory().unwrap();
    let read = database.columns_read_by(query).unwrap();
    let mut numbers = BTreeMap::new();
    for ((name, file), number) in names.into_iter().zip(1..) {
        let dag = workspan_reader::open(&file, &OpenOptions::default()).unwrap();
        let run = Run::new(number, file.display().to_string(), dag, &Options::default()).unwrap();
        database.load(&run, &read).unwrap();
        numbers.insert(number.to_string(), name);
    }
    (database, numbers)
}

#[test]
fn every_ready_query_has_the_rows_that_sqlite_has() {
    let folder = tempfile::tempdir().unwrap();
    let (root, traces) = (folder.path().join("lake"), traces(folder.path(), 10));
    add(&root, &traces, &["--detail"]);
    same_rows(&root);
}

/// Compares all ready queries that both have.
pub fn same_rows(root: &Path) {
    let mut with_rows = 0;
    for query in QUERIES.iter().filter(|query| query.name != "stretch") {
        let (database, names) = database(root, query.sql);
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
        let arguments = [
            "sql",
            root.to_str().unwrap(),
            "--query",
            query.name,
            "--format",
            "csv",
        ];
        let lake = normal(cells(&printed(&arguments)));
        assert_eq!(lake, sqlite, "{}", query.name);
        with_rows += usize::from(!lake.is_empty());
    }
    assert!(with_rows > 15, "only {with_rows} queries had rows");
}
