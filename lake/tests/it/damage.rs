//! Damaged files in a lake.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Array, StringArray};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use datafusion::parquet::file::properties::WriterProperties;

use crate::{add, files, lake, rows, traces};

fn of_table(root: &Path, table: &str) -> Vec<PathBuf> {
    files(&root.join("v1").join(table))
}

/// Runs a query; returns the exit code, the rows, and the messages.
fn asked(root: &Path, query: &str) -> (Option<i32>, String, String) {
    let output = lake(&["sql", root.to_str().unwrap(), query, "--format", "csv"]);
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

fn write(path: &Path, columns: Vec<(&str, ArrayRef)>) {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

#[test]
fn damaged_and_foreign_files_are_named_and_others_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let (root, traces) = (folder.path().join("lake"), traces(folder.path(), 8));
    add(&root, &traces, &["--project", "p"]);
    let sites = of_table(&root, "sites");
    let whole = std::fs::read(&sites[0]).unwrap();
    // The files are: cut off, empty, not Parquet, of another table, and one whose name is not a
    // run's.
    std::fs::write(&sites[0], &whole[..whole.len() / 2]).unwrap();
    std::fs::write(&sites[1], "").unwrap();
    std::fs::write(&sites[2], "hello, this is not Parquet").unwrap();
    std::fs::copy(&of_table(&root, "threads")[3], &sites[3]).unwrap();
    let ints: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["a", "b"]));
    write(&sites[4], vec![("label", texts), ("x", Arc::clone(&ints))]);
    let foreign = sites[5].with_file_name("part-0.parquet");
    write(&foreign, vec![("run", ints)]);
    let (code, answer, said) = asked(&root, "select count(distinct run) from sites");
    assert_eq!(code, Some(1), "{said}");
    assert_eq!(answer.lines().nth(1), Some("3"), "{answer}{said}");
    for path in sites[..5].iter().chain([&foreign]) {
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(said.contains(name), "{name} is not named: {said}");
    }
    // Files of tables that the query does not use are not examined.
    assert_eq!(rows(&root, "select count(*) from runs"), ["8"]);
}

/// A file has corrupted bytes in its middle, but an intact end.
#[test]
fn damage_inside_a_file_is_found_when_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let (root, traces) = (folder.path().join("lake"), traces(folder.path(), 5));
    add(&root, &traces, &[]);
    let sites = of_table(&root, "sites");
    let mut bytes = std::fs::read(&sites[2]).unwrap();
    let third = bytes.len() / 3;
    bytes[4..third].fill(0xa5);
    std::fs::write(&sites[2], bytes).unwrap();
    for query in [
        "select count(distinct label), sum(tasks), count(distinct run) from sites",
        "select * from sites",
    ] {
        let (code, answer, said) = asked(&root, query);
        assert_eq!(code, Some(1), "{said}");
        assert!(
            said.contains(sites[2].file_name().unwrap().to_str().unwrap()),
            "{said}"
        );
        assert!(answer.lines().count() > 1, "{answer}");
        if query.contains("count") {
            assert!(answer.lines().nth(1).unwrap().ends_with(",4"), "{answer}");
        }
    }
}

/// Files of an older version lack columns; those of a newer version have more.
#[test]
fn old_and_new_files_are_readable() {
    let folder = tempfile::tempdir().unwrap();
    let (root, traces) = (folder.path().join("lake"), traces(folder.path(), 3));
    add(&root, &traces, &["--tag", "commit=c1"]);
    let runs = of_table(&root, "runs");
    let rewrite = |path: &Path, change: &dyn Fn(&RecordBatch) -> RecordBatch| {
        let bytes = std::fs::read(path).unwrap();
        let builder = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes)).unwrap();
        let notes = builder
            .metadata()
            .file_metadata()
            .key_value_metadata()
            .cloned();
        let notes = notes.map(|notes| {
            notes
                .into_iter()
                .filter(|n| n.key.starts_with("workspan"))
                .collect()
        });
        let batch = builder.build().unwrap().next().unwrap().unwrap();
        let batch = change(&batch);
        let properties = WriterProperties::builder()
            .set_key_value_metadata(notes)
            .build();
        let file = std::fs::File::create(path).unwrap();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
    };
    rewrite(&runs[0], &|batch| {
        let lacking =
            ["recorded_at", "commit", "lost"].map(|c| batch.schema().index_of(c).unwrap());
        let left: Vec<usize> = (0..batch.num_columns())
            .filter(|i| !lacking.contains(i))
            .collect();
        batch.project(&left).unwrap()
    });
    rewrite(&runs[1], &|batch| {
        let schema = batch.schema();
        let names: Vec<String> = schema.fields().iter().map(|f| f.name().clone()).collect();
        let columns = names
            .iter()
            .map(String::as_str)
            .zip(batch.columns().iter().cloned());
        let new: ArrayRef = Arc::new(Int64Array::from(vec![7]));
        RecordBatch::try_from_iter(columns.chain([("from_the_future", new)])).unwrap()
    });
    let query =
        "select count(*), count(\"commit\"), count(lost), count(work), min(\"commit\") from runs";
    assert_eq!(rows(&root, query), ["3,2,2,3,c1"]);
}
