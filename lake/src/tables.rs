//! The tables of a lake. Their columns are those of `workspan sql`, so a column added there is
//! added here too. A lake also has tags, and identifies a run by a text instead of a number.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use workspan_sql::schema::{Column, TABLES, Table};

/// Tables with one row per task, strand or sample. Only `lake add --detail` writes them.
pub const DETAIL: &[&str] = &[
    "tasks", "strands", "edges", "steals", "events", "offs", "waits", "regions", "counters",
    "samples",
];

/// Tags that are also columns of `runs`.
pub const TAG_COLUMNS: &[(&str, &str)] = &[
    ("commit", "The tag `commit`"),
    ("branch", "The tag `branch`"),
];

/// The table of tags.
pub const TAGS: &str = "tags";

/// The columns whose values come from the path of a file.
pub const FOLDER_COLUMNS: &[(&str, &str)] = &[
    ("project", "The project"),
    (
        "day",
        "The day of the recording in UTC, as 2026-11-23; 1970-01-01 where it is not known",
    ),
];

/// The source of a column's values.
#[derive(Clone, Copy)]
pub enum Source {
    /// The run's name.
    Run,
    /// A column of `workspan sql`.
    Sql(&'static Column),
    /// A tag of the run, by its key.
    Tag(&'static str),
    /// The key of the row's tag.
    Key,
    /// The value of the row's tag.
    Value,
}

/// A column of a lake.
#[derive(Clone, Copy)]
pub struct LakeColumn {
    /// The column's name.
    pub name: &'static str,
    /// `INTEGER`, `REAL` or `TEXT`.
    pub kind: &'static str,
    /// The meaning of the column.
    pub about: &'static str,
    /// The source of its values.
    pub source: Source,
}

/// A table of a lake.
pub struct LakeTable {
    /// The table's name.
    pub name: &'static str,
    /// The meaning of a row.
    pub about: &'static str,
    /// The columns in the files, without those that come from their paths.
    pub columns: Vec<LakeColumn>,
    /// The table of `workspan sql`; `None` for the table of tags.
    pub sql: Option<&'static Table>,
}

impl LakeTable {
    /// True if only `--detail` writes the table.
    pub fn is_detail(&self) -> bool {
        DETAIL.contains(&self.name)
    }

    /// The Arrow schema of the table's files.
    pub fn schema(&self) -> SchemaRef {
        let fields = self.columns.iter().map(|column| {
            let kind = match column.kind {
                "INTEGER" => DataType::Int64,
                "REAL" => DataType::Float64,
                _ => DataType::Utf8,
            };
            Field::new(column.name, kind, true)
        });
        Arc::new(Schema::new(fields.collect::<Vec<_>>()))
    }
}

/// All tables, `runs` first.
pub fn tables() -> Vec<LakeTable> {
    let run = LakeColumn {
        name: "run",
        kind: "TEXT",
        about: "Name of the run: a hash of its trace",
        source: Source::Run,
    };
    let of_sql = |table: &'static Table| {
        let mut columns = vec![run];
        columns.extend(table.columns.iter().skip(1).map(|column| LakeColumn {
            name: column.name,
            kind: column.kind,
            about: column.about,
            source: Source::Sql(column),
        }));
        if table.name == crate::layout::RUNS {
            columns.extend(TAG_COLUMNS.iter().map(|&(name, about)| LakeColumn {
                name,
                kind: "TEXT",
                about,
                source: Source::Tag(name),
            }));
        }
        LakeTable {
            name: table.name,
            about: table.about,
            columns,
            sql: Some(table),
        }
    };
    let text = |name, about, source| LakeColumn {
        name,
        kind: "TEXT",
        about,
        source,
    };
    let tags = LakeTable {
        name: TAGS,
        about: "One row per run and tag.",
        columns: vec![
            run,
            text("key", "The tag's key", Source::Key),
            text("value", "Its value", Source::Value),
        ],
        sql: None,
    };
    TABLES.iter().map(of_sql).chain([tags]).collect()
}

/// The table with the given name, ignoring case.
pub fn named(name: &str) -> Option<LakeTable> {
    tables()
        .into_iter()
        .find(|table| table.name.eq_ignore_ascii_case(name))
}

/// All tables as SQL, with the meaning of each column.
pub fn schema_text() -> String {
    let mut text = String::from(
        "-- Times are whole nanoseconds; points in time count from the beginning of the run. An unknown value is NULL.\n",
    );
    for table in tables() {
        let detail = if table.is_detail() {
            " Only of runs that were added with --detail."
        } else {
            ""
        };
        text.push_str(&format!(
            "\n-- {}{detail}\nCREATE TABLE {} (\n",
            table.about, table.name
        ));
        for column in &table.columns {
            let name = format!("{} {},", column.name, column.kind);
            text.push_str(&format!("  {name:<28} -- {}\n", column.about));
        }
        for (i, (name, about)) in FOLDER_COLUMNS.iter().enumerate() {
            let comma = if i + 1 < FOLDER_COLUMNS.len() {
                ","
            } else {
                ""
            };
            let name = format!("{name} TEXT{comma}");
            text.push_str(&format!("  {name:<28} -- {about}\n"));
        }
        text.push_str(");\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_detail_table_is_a_table() {
        let names: Vec<&str> = tables().iter().map(|t| t.name).collect();
        for detail in DETAIL {
            assert!(names.contains(detail), "{detail}");
        }
        assert_eq!(names.first(), Some(&crate::layout::RUNS));
    }

    #[test]
    fn no_column_has_the_name_of_a_folder() {
        for table in tables() {
            for (folder, _) in FOLDER_COLUMNS {
                assert!(
                    table.columns.iter().all(|c| c.name != *folder),
                    "{}",
                    table.name
                );
            }
            assert_eq!(table.columns[0].name, "run", "{}", table.name);
        }
    }
}
