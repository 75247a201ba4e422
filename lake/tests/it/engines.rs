//! Other engines give the same answers from the same files. They come from PyPI; `cargo xtask test
//! lake` puts a Python that has them first in PATH and runs these tests.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use workspan_lake::queries;

use crate::sqlite::{answer, normal};
use crate::{add, traces};

/// Reads the tables' folders with DuckDB. Takes the root and queries as JSON, and prints rows as
/// JSON.
const DUCKDB: &str = r#"
import json, os, sys, duckdb
told = json.load(sys.stdin)
db = duckdb.connect()
# Of three tables it joins the large two by the run alone first, which fills the disk.
db.execute("set disabled_optimizers = 'join_order'")
# What does not fit is an error, and no file of 50 GB.
db.execute("set temp_directory = ''")
for table in sorted(os.listdir(told["root"] + "/v1")):
    files = f"{told['root']}/v1/{table}/*/*/*.parquet"
    db.execute(f"""create view {table} as select * from read_parquet('{files}', hive_partitioning = true,
        hive_types = {{'project': VARCHAR, 'day': VARCHAR}}, union_by_name = true)""")
answers = {}
for name, sql in told["queries"].items():
    rows = db.execute(sql).fetchall()
    answers[name] = [[None if v is None else str(v) if isinstance(v, str) else float(v) for v in row] for row in rows]
json.dump(answers, sys.stdout)
"#;

/// Does the same with Spark, in a separate process. In Spark, numbers with a point are decimals,
/// whose quotients are cut to a few digits, unless they end in D. Identifiers are quoted as in the
/// standard.
const SPARK: &str = r#"
import json, os, re, sys
from pyspark.sql import SparkSession
told = json.load(sys.stdin)
settings = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.parquet.mergeSchema": "true",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.warehouse.dir": told["scratch"],
    "spark.local.dir": told["scratch"],
}
builder = SparkSession.builder.master("local[2]")
for key, value in settings.items():
    builder = builder.config(key, value)
spark = builder.getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
for table in sorted(os.listdir(told["root"] + "/v1")):
    spark.read.parquet(f"{told['root']}/v1/{table}").createOrReplaceTempView(table)
answers = {}
for name, sql in told["queries"].items():
    rows = spark.sql(re.sub(r"\b(\d+\.\d+)\b", r"\1D", sql)).collect()
    answers[name] = [[None if v is None else str(v) if isinstance(v, str) else float(v) for v in row] for row in rows]
json.dump(answers, sys.stdout)
"#;

fn python(script: &str, told: &Value) -> Value {
    let mut command = Command::new("python3");
    command
        .args(["-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    serde_json::to_writer(child.stdin.take().unwrap(), told).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "python3 failed");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Cells as text, so that 3 and 3.0 are the same.
fn rows_of(answer: &Value) -> Vec<Vec<String>> {
    let rows = answer.as_array().unwrap().iter().map(|row| {
        let text = |cell: &Value| match cell {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            number => number.to_string(),
        };
        row.as_array().unwrap().iter().map(text).collect()
    });
    normal(rows)
}

/// Replaces casts that truncate in other engines and round in DuckDB.
fn for_duckdb(sql: &str) -> String {
    sql.replace(
        "cast(log2(time) AS INTEGER)",
        "cast(floor(log2(time)) AS INTEGER)",
    )
}

#[test]
#[ignore = "needs duckdb of PyPI: cargo xtask test lake"]
fn duckdb_has_the_same_rows() {
    let folder = tempfile::tempdir().unwrap();
    let (root, traces) = (folder.path().join("lake"), traces(folder.path(), 20));
    for (i, part) in traces.chunks(5).enumerate() {
        let tag = format!("commit=c{i}");
        add(&root, part, &["--detail", "--tag", &tag]);
    }
    same_rows_in_duckdb(&root);
}

#[test]
#[ignore = "needs pyspark of PyPI and Java: cargo xtask test lake"]
fn spark_has_the_same_rows() {
    let folder = tempfile::tempdir().unwrap();
    let (root, traces) = (folder.path().join("lake"), traces(folder.path(), 20));
    for (i, part) in traces.chunks(5).enumerate() {
        let tag = format!("commit=c{i}");
        add(&root, part, &["--detail", "--tag", &tag]);
    }
    let queries: serde_json::Map<String, Value> = queries::all()
        .map(|query| (query.name.to_owned(), json!(query.sql)))
        .collect();
    let scratch = folder.path().join("scratch");
    let told = json!({"root": root, "queries": queries, "scratch": scratch});
    let answers = python(SPARK, &told);
    for query in queries::all() {
        let own = answer(&root, query.name);
        assert_eq!(own, rows_of(&answers[query.name]), "{}", query.name);
    }
}

fn same_rows_in_duckdb(root: &Path) {
    let queries: serde_json::Map<String, Value> = queries::all()
        .map(|query| (query.name.to_owned(), json!(for_duckdb(query.sql))))
        .collect();
    let answers = python(DUCKDB, &json!({"root": root, "queries": queries}));
    for query in queries::all() {
        let own = answer(root, query.name);
        assert_eq!(own, rows_of(&answers[query.name]), "{}", query.name);
    }
}

#[test]
#[ignore = "needs recorded runs and duckdb of PyPI: cargo xtask test lake"]
fn recorded_runs_have_the_same_rows_in_duckdb() {
    same_rows_in_duckdb(crate::recorded::lake());
}
