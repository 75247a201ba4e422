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

/// A view of the tables.
pub struct View {
    /// Its name.
    pub name: &'static str,
    /// What a row stands for.
    pub about: &'static str,
    /// The query behind it.
    pub sql: &'static str,
}

/// All views.
pub const VIEWS: &[View] = &[View {
    name: "task_paths",
    about: "One row per task: its run, task, level and path, the ranks from the root down, as 0/2/1. A program that creates the same tasks has the same paths in every run.",
    sql: "WITH RECURSIVE paths (run, task, level, path) AS (
  SELECT run, task, level, CAST(rank AS TEXT) FROM tasks WHERE parent IS NULL
  UNION ALL SELECT t.run, t.task, t.level, p.path || '/' || t.rank FROM paths p JOIN tasks t ON t.run = p.run AND t.parent = p.task)
SELECT run, task, level, path FROM paths",
}];

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
    for view in VIEWS {
        let _ = write!(
            sql,
            "\n-- {}\nCREATE VIEW {} AS {};\n",
            view.about, view.name, view.sql
        );
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
    for view in VIEWS {
        let _ = write!(
            text,
            "### {}\n\n{} A view:\n\n    {}\n\n",
            view.name,
            view.about,
            view.sql.replace('\n', "\n    ")
        );
    }
    text
}
