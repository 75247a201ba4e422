//! Makes a large lake from a small one by repeating its runs under other names. Columns that do not
//! change are copied in compressed form.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use datafusion::parquet::basic::{Compression, ZstdLevel};
use datafusion::parquet::column::writer::ColumnCloseResult;
use datafusion::parquet::data_type::{ByteArray, ByteArrayType};
use datafusion::parquet::file::properties::{EnabledStatistics, WriterProperties};
use datafusion::parquet::file::reader::{FileReader, SerializedFileReader};
use datafusion::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};

use crate::{Result, files};

/// The tables that the queries read.
const TABLES: [&str; 3] = ["sites", "strands", "runs"];

/// Makes a lake of `runs` runs at `lake`, which repeat the runs of `few`.
pub fn grow(few: &Path, lake: &Path, runs: usize) -> Result<()> {
    let half = lake.with_extension("half");
    let _ = fs::remove_dir_all(&half);
    for table in TABLES {
        let sources = files(&few.join("v1").join(table))?;
        let sources: Vec<Bytes> = sources
            .into_iter()
            .map(|source| Ok(Bytes::from(fs::read(source)?)))
            .collect::<Result<_>>()?;
        for run in 0..runs {
            // There are 20 runs per day, 10 per commit, on 16 hosts.
            let day = format!(
                "day=2026-{:02}-{:02}",
                run / 560 % 12 + 1,
                run / 20 % 28 + 1
            );
            let folder = half.join("v1").join(table).join("project=growth").join(day);
            fs::create_dir_all(&folder)?;
            let file = fs::File::create(folder.join(format!("{run:016x}.parquet")))?;
            renamed(&sources[run % sources.len()], run, file)?;
        }
    }
    fs::rename(half, lake)?;
    Ok(())
}

/// Writes the rows of `source` as the rows of another run.
fn renamed(source: &Bytes, run: usize, file: fs::File) -> Result<()> {
    let reader = SerializedFileReader::new(source.clone())?;
    let metadata = reader.metadata();
    let known = metadata.file_metadata();
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        // Copied columns have no offset index.
        .set_offset_index_disabled(true)
        .set_key_value_metadata(known.key_value_metadata().cloned())
        .build();
    let schema = known.schema_descr().root_schema_ptr();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties))?;
    for group in metadata.row_groups() {
        let mut rows = writer.next_row_group()?;
        for column in group.columns() {
            let text = match column.column_path().string().as_str() {
                "run" => format!("{run:016x}"),
                "commit" => format!("c{}", run / 10),
                "host" => format!("host{}", run % 16),
                _ => {
                    let close = ColumnCloseResult {
                        bytes_written: column.compressed_size() as u64,
                        rows_written: group.num_rows() as u64,
                        metadata: column.clone(),
                        bloom_filter: None,
                        column_index: None,
                        offset_index: None,
                    };
                    rows.append_column(source, close)?;
                    continue;
                }
            };
            filled(&mut rows, &text, group.num_rows() as usize)?;
        }
        rows.close()?;
    }
    writer.close()?;
    Ok(())
}

/// Writes the next column, with the same text in all rows.
fn filled(
    rows: &mut SerializedRowGroupWriter<'_, fs::File>,
    text: &str,
    count: usize,
) -> Result<()> {
    let mut column = rows.next_column()?.ok_or("no more columns")?;
    let values = vec![ByteArray::from(text); count];
    let are_there = vec![1; count];
    let typed = column.typed::<ByteArrayType>();
    typed.write_batch(&values, Some(&are_there), None)?;
    column.close()?;
    Ok(())
}
