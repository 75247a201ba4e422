//! The types that describe tables and columns. `CREATE TABLE` statements, loading and documentation
//! are all generated from them.

use std::fmt::Write;

use crate::cell::Cell;
use crate::run::Run;

pub use crate::tables::TABLES;

/// A column.
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// `INTEGER`, `REAL` or `TEXT`.
    pub kind: &'static str,
    /// What it means.
    pub about: &'static str,
    /// Computes the value in a row of a run.
    pub(crate) value: for<'a> fn(&'a Run, usize) -> Cell<'a>,
}

/// A table. Every table's first column is `run`.
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// What a row stands for.
    pub about: &'static str,
    /// Its columns.
    pub columns: &'static [Column],
    /// Columns that have an index in a database file, each together with the run.
    pub(crate) index: &'static [&'static str],
    /// Counts the rows of a run.
    pub(crate) rows: fn(&Run) -> usize,
}

impl Column {
    /// The value in row `row` of a run; rows are counted by [`Table::row_count`].
    pub fn value<'a>(&self, run: &'a Run, row: usize) -> Cell<'a> {
        (self.value)(run, row)
    }
}

impl Table {
    /// The number of rows that a run has in it.
    pub fn row_count(&self, run: &Run) -> usize {
        (self.rows)(run)
    }

    /// The table with that name, ignoring case.
    pub fn named(name: &str) -> Option<&'static Table> {
        TABLES.iter().find(|t| t.name.eq_ignore_ascii_case(name))
    }

    /// The `CREATE TABLE` statement, with the meaning of each column as a comment.
    pub fn create(&self) -> String {
        let mut sql = format!("-- {}\nCREATE TABLE {} (\n", self.about, self.name);
        for (i, column) in self.columns.iter().enumerate() {
            let comma = if i + 1 < self.columns.len() { "," } else { "" };
            let name = format!("{} {}{comma}", column.name, column.kind);
            let _ = writeln!(sql, "  {name:<28} -- {}", column.about);
        }
        sql.push_str(");\n");
        sql
    }
}

/// All tables as SQL.
pub fn schema() -> String {
    let mut sql = String::from(
        "-- Times are whole nanoseconds; points in time count from the beginning of the run. An unknown value is NULL.\n",
    );
    for table in TABLES {
        sql.push('\n');
        sql.push_str(&table.create());
    }
    sql
}

/// All tables as Markdown, for the documentation.
pub fn markdown() -> String {
    let mut text = String::new();
    for table in TABLES {
        let _ = write!(
            text,
            "### {}\n\n{}\n\n| column | type | meaning |\n|---|---|---|\n",
            table.name, table.about
        );
        for column in table.columns {
            let about = column.about.replace('|', "\\|");
            let _ = writeln!(text, "| `{}` | {} | {about} |", column.name, column.kind);
        }
        text.push('\n');
    }
    text
}
