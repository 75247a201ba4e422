//! The tables and their columns: what `CREATE TABLE`, loading and documentation are made from.

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
    /// The value in a row of a run.
    pub(crate) value: for<'a> fn(&'a Run, usize) -> Cell<'a>,
}

/// A table. Every table's first column is `run`.
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// What a row is.
    pub about: &'static str,
    /// Its columns.
    pub columns: &'static [Column],
    /// Columns by which a database file finds rows fast, besides the run.
    pub(crate) index: &'static [&'static str],
    /// How many rows a run has.
    pub(crate) rows: fn(&Run) -> usize,
}

impl Table {
    /// The table of that name, in any case.
    pub fn named(name: &str) -> Option<&'static Table> {
        TABLES.iter().find(|t| t.name.eq_ignore_ascii_case(name))
    }

    /// Its `CREATE TABLE` statement, every column with its meaning as a comment.
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
        "-- Times are whole nanoseconds; moments count from the run's beginning. An unknown value is NULL.\n",
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
