//! How long queries take and how much memory they use in lakes of 10^6 rows and more.
//!
//! `cargo run --release --example growth -- RUN.wspan FOLDER [MOST_ROWS]` makes lakes in `FOLDER`
//! from one recorded run, which is repeated under other names, commits and hosts, asks each lake,
//! and prints a table in Markdown. A lake that is there is used as it is.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use datafusion::arrow::array::{Array, ArrayRef, StringArray};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use datafusion::parquet::basic::{Compression, ZstdLevel};
use datafusion::parquet::file::properties::WriterProperties;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// What is asked: of a row a run, of a row a site, and of a row a strand.
const QUERIES: [(&str, &str); 4] = [
    ("`commits`", "commits"),
    ("`slowest-sites`", "slowest-sites"),
    (
        "work by level",
        "select level, count(*) as strands, sum(time) as time from strands group by level order by level",
    ),
    ("`ready-times`", "ready-times"),
];
/// Memory that a query is given.
const MEMORY: &str = "1GB";

fn main() -> Result<()> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let [trace, folder, most @ ..] = &given[..] else {
        return Err("usage: growth RUN.wspan FOLDER [MOST_ROWS]".into());
    };
    let most: f64 = most.first().map_or(Ok(1e7), |most| most.parse())?;
    let folder = Path::new(folder);
    let one = folder.join("one");
    if !one.exists() {
        let added = Command::new(program()?)
            .args([
                "add",
                "--detail",
                "--project",
                "growth",
                "--tag",
                "commit=c",
            ])
            .args([trace.as_str(), "--into"])
            .arg(&one)
            .status()?;
        if !added.success() {
            return Err("the run could not be added".into());
        }
    }
    let per_run: f64 = asked(&one, "select count(*) from strands")?
        .0
        .trim()
        .parse()?;
    println!(
        "| strands | runs | size on disk | query | time | memory |\n|---|---|---|---|---|---|"
    );
    let mut rows = 1e6;
    while rows <= most {
        let lake = folder.join(format!("rows-{rows:.0}"));
        let runs = (rows / per_run).ceil() as usize;
        if !lake.exists() {
            grow(&one, &lake, runs)?;
        }
        for (name, query) in QUERIES {
            let begun = Instant::now();
            let (_, peak) = asked(&lake, query)?;
            let took = begun.elapsed();
            println!(
                "| {:.2e} | {runs} | {:.0} MB | {name} | {:.2} s | {:.0} MB |",
                per_run * runs as f64,
                bytes(&lake)? as f64 / 1e6,
                took.as_secs_f64(),
                peak as f64 / 1e3,
            );
        }
        rows *= 10.0;
    }
    Ok(())
}

/// `workspan-lake` of the same build.
fn program() -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    let folder = own.parent().and_then(Path::parent);
    Ok(folder.ok_or("no folder of programs")?.join("workspan-lake"))
}

/// The first cell of the answer, and the most memory that the process had, in kB.
fn asked(lake: &Path, query: &str) -> Result<(String, u64)> {
    let mut command = Command::new(program()?);
    command
        .arg("sql")
        .arg(lake)
        .args(["--format", "csv", "--memory", MEMORY]);
    if query.contains(' ') {
        command.arg(query);
    } else {
        command.args(["--query", query]);
    }
    let out = lake.with_extension("csv");
    let mut child = command
        .stdout(fs::File::create(&out)?)
        .stderr(Stdio::inherit())
        .spawn()?;
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    let code = loop {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kb = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        peak = peak.max(kb.unwrap_or(0));
        if let Some(code) = child.try_wait()? {
            break code;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    if !code.success() {
        return Err(format!("{query}: the query failed").into());
    }
    let text = fs::read_to_string(&out)?;
    let first = text.lines().nth(1).unwrap_or_default();
    Ok((first.to_owned(), peak))
}

/// Every file of the lake of one run, `runs` times, under the names of other runs.
fn grow(one: &Path, lake: &Path, runs: usize) -> Result<()> {
    let half = lake.with_extension("half");
    let _ = fs::remove_dir_all(&half);
    for table in fs::read_dir(one.join("v1"))? {
        let table = table?.path();
        let Some(file) = files(&table)?.into_iter().next() else {
            continue;
        };
        let bytes = bytes::Bytes::from(fs::read(&file)?);
        let builder = ParquetRecordBatchReaderBuilder::try_new(bytes)?.with_batch_size(1 << 16);
        let notes = builder
            .metadata()
            .file_metadata()
            .key_value_metadata()
            .cloned();
        let batches: Vec<RecordBatch> = builder.build()?.collect::<std::result::Result<_, _>>()?;
        let notes = notes.map(|notes| {
            let own = notes
                .into_iter()
                .filter(|note| note.key.starts_with("workspan"));
            own.collect()
        });
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
            .set_key_value_metadata(notes)
            .build();
        for run in 0..runs {
            // 20 runs a day, 10 a commit, on 16 hosts.
            let day = format!(
                "day=2026-{:02}-{:02}",
                run / 560 % 12 + 1,
                run / 20 % 28 + 1
            );
            let folder = half.join("v1").join(table.file_name().unwrap_or_default());
            let folder = folder.join("project=growth").join(day);
            fs::create_dir_all(&folder)?;
            let file = fs::File::create(folder.join(format!("{run:016x}.parquet")))?;
            let Some(first) = batches.first() else {
                continue;
            };
            let mut writer = ArrowWriter::try_new(file, first.schema(), Some(properties.clone()))?;
            for batch in &batches {
                writer.write(&renamed(batch, run)?)?;
            }
            writer.close()?;
        }
    }
    fs::rename(half, lake)?;
    Ok(())
}

/// The rows of another run.
fn renamed(batch: &RecordBatch, run: usize) -> Result<RecordBatch> {
    let schema = batch.schema();
    let columns = schema
        .fields()
        .iter()
        .zip(batch.columns())
        .map(|(field, column)| {
            let text = match field.name().as_str() {
                "run" => format!("{run:016x}"),
                "commit" => format!("c{}", run / 10),
                "host" => format!("host{}", run % 16),
                _ => return Arc::clone(column),
            };
            Arc::new(StringArray::from(vec![text; column.len()])) as ArrayRef
        });
    Ok(RecordBatch::try_new(
        Arc::clone(&schema),
        columns.collect(),
    )?)
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    Ok(found)
}

fn bytes(folder: &Path) -> Result<u64> {
    let lengths = files(folder)?
        .into_iter()
        .map(|file| Ok(file.metadata()?.len()));
    lengths.sum()
}
