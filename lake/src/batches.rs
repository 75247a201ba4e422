//! Encodes the rows of a run as a Parquet file in memory.

use std::sync::Arc;

use anyhow::Context;
use datafusion::arrow::array::{ArrayRef, Float64Builder, Int64Builder, StringBuilder};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::{Compression, ZstdLevel};
use datafusion::parquet::file::metadata::KeyValue;
use datafusion::parquet::file::properties::{EnabledStatistics, WriterProperties};
use workspan_sql::{Cell, Run};

use crate::layout::RunName;
use crate::tables::{LakeColumn, LakeTable, Source};

/// The key in a file's metadata for the name of its table. A file without this key is not from a
/// lake.
pub const TABLE_KEY: &str = "workspan.table";
/// The key in a file's metadata for the name of its run.
pub const RUN_KEY: &str = "workspan.run";

/// Number of rows that are converted to columns at a time.
const BATCH_ROWS: usize = 1 << 16;

/// A run to be added, with its name and tags.
pub struct NewRun<'a> {
    /// The run's name.
    pub name: &'a RunName,
    /// The measured run.
    pub run: &'a Run,
    /// The run's tags; their keys are distinct.
    pub tags: &'a [(String, String)],
}

impl NewRun<'_> {
    fn tag(&self, key: &str) -> Option<&str> {
        let mut tags = self.tags.iter();
        tags.find(|tag| tag.0 == key).map(|tag| tag.1.as_str())
    }

    fn rows(&self, table: &LakeTable) -> usize {
        table
            .sql
            .map_or(self.tags.len(), |sql| sql.row_count(self.run))
    }

    fn cell<'a>(&'a self, column: &LakeColumn, row: usize) -> Cell<'a> {
        let text = |text: Option<&'a str>| text.map_or(Cell::Null, Cell::Text);
        match column.source {
            Source::Run => Cell::Text(self.name.as_str()),
            Source::Sql(column) => column.value(self.run, row),
            Source::Tag(key) => text(self.tag(key)),
            Source::Key => text(self.tags.get(row).map(|tag| tag.0.as_str())),
            Source::Value => text(self.tags.get(row).map(|tag| tag.1.as_str())),
        }
    }
}

/// The Parquet file of a run for a table. The same run always gives the same bytes.
///
/// # Errors
/// The encoder fails.
pub fn parquet(table: &LakeTable, added: &NewRun<'_>) -> anyhow::Result<Vec<u8>> {
    let schema = table.schema();
    let note = |key: &str, value: &str| KeyValue::new(key.to_owned(), value.to_owned());
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_created_by(format!("workspan-lake {}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(Some(vec![
            note(TABLE_KEY, table.name),
            note(RUN_KEY, added.name.as_str()),
        ]))
        .build();
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut file, Arc::clone(&schema), Some(properties))?;
    let rows = added.rows(table);
    for from in (0..rows).step_by(BATCH_ROWS) {
        let to = rows.min(from + BATCH_ROWS);
        let columns = table.columns.iter();
        let columns = columns
            .map(|column| array(column, added, from..to))
            .collect();
        writer.write(&RecordBatch::try_new(Arc::clone(&schema), columns)?)?;
    }
    writer
        .close()
        .with_context(|| format!("encoding the table `{}`", table.name))?;
    Ok(file)
}

/// One column of some rows. A value that is not of the column's type is replaced by the nearest one
/// that is: a count beyond 64 bits becomes the largest number.
fn array(column: &LakeColumn, added: &NewRun<'_>, rows: std::ops::Range<usize>) -> ArrayRef {
    let cells = rows.map(|row| added.cell(column, row));
    match column.kind {
        "INTEGER" => {
            let mut array = Int64Builder::new();
            for cell in cells {
                array.append_option(match cell {
                    Cell::Int(v) => Some(v),
                    Cell::Real(v) => Some(v as i64),
                    Cell::Null | Cell::Text(_) => None,
                });
            }
            Arc::new(array.finish())
        }
        "REAL" => {
            let mut array = Float64Builder::new();
            for cell in cells {
                array.append_option(match cell {
                    Cell::Int(v) => Some(v as f64),
                    Cell::Real(v) => Some(v),
                    Cell::Null | Cell::Text(_) => None,
                });
            }
            Arc::new(array.finish())
        }
        _ => {
            let mut array = StringBuilder::new();
            for cell in cells {
                match cell {
                    Cell::Text(v) => array.append_value(v),
                    Cell::Int(v) => array.append_value(v.to_string()),
                    Cell::Real(v) => array.append_value(v.to_string()),
                    Cell::Null => array.append_null(),
                }
            }
            Arc::new(array.finish())
        }
    }
}
