//! Finds the files of a table, and the damaged ones among them.

use std::collections::{BTreeMap, BTreeSet};

use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use datafusion::parquet::arrow::parquet_to_arrow_schema;
use datafusion::parquet::errors::ParquetError;
use datafusion::parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use futures::{StreamExt, TryStreamExt, stream};
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt};

use super::Damage;
use crate::batches::TABLE_KEY;
use crate::layout::{RUNS, RunName};
use crate::root::{Root, reason};
use crate::tables::LakeTable;

/// Number of files that are examined at the same time.
const AT_ONCE: usize = 32;

/// A file with a footer that is intact and of the right table.
#[derive(Debug)]
pub struct IntactFile {
    /// The file's path and size.
    pub meta: ObjectMeta,
    /// The number of its rows.
    pub rows: u64,
}

/// The files of a table.
pub struct TableFiles {
    /// The intact files, sorted by path.
    pub intact: Vec<IntactFile>,
    /// The damaged files.
    pub damaged: BTreeMap<Path, Damage>,
}

/// The runs in the lake.
///
/// # Errors
/// The store does not answer.
pub async fn runs(root: &Root) -> anyhow::Result<BTreeSet<RunName>> {
    let files = listed(root, RUNS).await?;
    let names = files
        .iter()
        .filter_map(|file| RunName::of_file(&file.location));
    Ok(names.collect())
}

/// The files of `table` that belong to `runs` and are not among the `known` damaged ones. A file of
/// another run comes from an `add` that has not finished or was killed; it is skipped.
///
/// # Errors
/// The store does not answer.
pub async fn of_table(
    root: &Root,
    table: &LakeTable,
    runs: &BTreeSet<RunName>,
    known: &BTreeMap<Path, Damage>,
) -> anyhow::Result<TableFiles> {
    let mut files = listed(root, table.name).await?;
    files.retain(|file| {
        let is_parquet = file.location.extension() == Some("parquet");
        let run = RunName::of_file(&file.location);
        let is_passed_over = run.is_some_and(|run| !runs.contains(&run));
        is_parquet && !is_passed_over && !known.contains_key(&file.location)
    });
    let checked = stream::iter(files).map(|file| async move {
        let checked = match RunName::of_file(&file.location) {
            Some(_) => check_footer(root, table, &file).await,
            None => Err("is not a file of a run".to_owned()),
        };
        (file, checked)
    });
    let mut found = TableFiles {
        intact: Vec::new(),
        damaged: BTreeMap::new(),
    };
    let mut checked = checked.buffered(AT_ONCE);
    while let Some((meta, checked)) = checked.next().await {
        match checked {
            Ok(rows) => found.intact.push(IntactFile { meta, rows }),
            Err(why) => {
                let file = root.shown(&meta.location);
                found.damaged.insert(meta.location, Damage { file, why });
            }
        }
    }
    found
        .intact
        .sort_by(|a, b| a.meta.location.cmp(&b.meta.location));
    Ok(found)
}

async fn listed(root: &Root, table: &str) -> anyhow::Result<Vec<ObjectMeta>> {
    let folder = root.table(table);
    let files = root.store.list(Some(&folder)).try_collect().await;
    files.map_err(|error| root.failed(&folder, &error))
}

/// Checks the footer of a file: the file must be of this table, with its present columns. A file of
/// an older version may lack columns. Returns the number of rows.
async fn check_footer(root: &Root, table: &LakeTable, file: &ObjectMeta) -> Result<u64, String> {
    let footer = footer(root, file).await?;
    let notes = footer.file_metadata().key_value_metadata();
    let mut notes_of_table = notes.into_iter().flatten().filter(|n| n.key == TABLE_KEY);
    let of_table = notes_of_table.next().and_then(|note| note.value.as_deref());
    if of_table != Some(table.name) {
        return Err(match of_table {
            None => "is a Parquet file that workspan did not write".to_owned(),
            Some(other) => format!("is a file of the table `{other}`"),
        });
    }
    let columns = footer.file_metadata().schema_descr();
    let columns = parquet_to_arrow_schema(columns, notes).map_err(|error| error.to_string())?;
    for field in table.schema().fields() {
        let Ok(there) = columns.field_with_name(field.name()) else {
            continue;
        };
        if there.data_type() != field.data_type() {
            return Err(format!(
                "has a column `{}` of another type: {} instead of {}",
                field.name(),
                there.data_type(),
                field.data_type()
            ));
        }
    }
    Ok(footer.file_metadata().num_rows().max(0) as u64)
}

/// Those of `paths` that cannot be read completely.
pub async fn damaged(root: &Root, paths: impl Iterator<Item = &Path>) -> Vec<(Path, Damage)> {
    let read = stream::iter(paths.cloned()).map(|path| async move {
        let why = read_all(root, &path).await.err();
        let file = root.shown(&path);
        why.map(|why| (path, Damage { file, why }))
    });
    read.buffered(AT_ONCE)
        .filter_map(std::future::ready)
        .collect()
        .await
}

async fn read_all(root: &Root, path: &Path) -> Result<(), String> {
    let unreadable = |error| format!("cannot be read ({})", reason(&error));
    let got = root.store.get(path).await.map_err(unreadable)?;
    let bytes = got.bytes().await.map_err(unreadable)?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(bytes);
    let rows = builder.and_then(ParquetRecordBatchReaderBuilder::build);
    for batch in rows.map_err(|error| format!("is damaged ({error})"))? {
        batch.map_err(|error| format!("is damaged ({error})"))?;
    }
    Ok(())
}

/// Number of bytes at a file's end that are read first: the footers of most files fit.
const FOOTER_BYTES: u64 = 16 << 10;

async fn footer(root: &Root, file: &ObjectMeta) -> Result<ParquetMetaData, String> {
    let mut bytes = FOOTER_BYTES.min(file.size);
    loop {
        let end = file.size - bytes..file.size;
        let end = root.store.get_range(&file.location, end).await;
        let end = end.map_err(|error| format!("cannot be read ({})", reason(&error)))?;
        let mut reader = ParquetMetaDataReader::new();
        match reader.try_parse_sized(&end, file.size) {
            Ok(()) => {
                let parsed = reader.finish();
                return parsed.map_err(|error| format!("is not a whole Parquet file ({error})"));
            }
            Err(ParquetError::NeedMoreData(more)) if bytes < file.size => {
                bytes = file.size.min(bytes.max(more as u64));
            }
            Err(error) => return Err(format!("is not a whole Parquet file ({error})")),
        }
    }
}
