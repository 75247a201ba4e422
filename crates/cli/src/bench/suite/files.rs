//! The suite's numbers as comma-separated values and as JSON; times are in ns.

use std::fmt::Write;

use serde::Serialize;

use super::super::csv::quoted;
use super::super::result::{PARTS, median};
use super::summary::Benchmark;
use super::table::{number, parallelism};

/// One line for each benchmark, number of workers and runtime.
pub fn csv(benchmarks: &[Benchmark]) -> String {
    let mut out = String::from(
        "program,workers,runtime,turns,elapsed,elapsed_min,elapsed_max,serial,speedup,speedup_min,speedup_max,loss,\
         recorded,cpu_ratio,work,span,parallelism,tasks,spawns,steals",
    );
    for (name, _) in PARTS {
        let _ = write!(out, ",part_{name}");
    }
    out.push_str(",cause,says,trace\n");
    let whole = |n: Option<u64>| n.map_or_else(String::new, |n| n.to_string());
    for benchmark in benchmarks {
        for row in &benchmark.rows {
            let says = row.says.as_ref();
            let mut fields = vec![
                benchmark.program.to_owned(),
                benchmark.workers.to_string(),
                row.runtime.to_owned(),
                row.bare.len().to_string(),
                whole(median(&row.bare)),
                whole(row.bare.first().copied()),
                whole(row.bare.last().copied()),
                whole(benchmark.serial),
                number(row.speedup, 4),
                number(row.spread.map(|spread| spread[0]), 4),
                number(row.spread.map(|spread| spread[1]), 4),
                number(row.loss, 4),
                whole(median(&row.recorded)),
                number(row.cpu_ratio, 4),
                whole(says.map(|says| says.work)),
                whole(says.map(|says| says.span)),
                number(parallelism(row), 4),
                whole(says.map(|says| says.tasks)),
                whole(says.map(|says| says.spawns)),
                whole(says.map(|says| says.steals)),
            ];
            let parts = says.map(|says| says.parts.list());
            fields.extend((0..PARTS.len()).map(|i| whole(parts.map(|parts| parts[i]))));
            fields.push(says.and_then(|s| s.cause.clone()).unwrap_or_default());
            fields.push(quoted(says.map_or("", |says| &says.says)));
            fields.push(quoted(row.trace.as_deref().unwrap_or_default()));
            out.push_str(&fields.join(","));
            out.push('\n');
        }
    }
    out
}

#[derive(Serialize)]
struct Suite<'a> {
    size: &'a str,
    about: &'a [String],
    warnings: &'a [String],
    benchmarks: &'a [Benchmark],
}

/// The whole file.
///
/// # Errors
/// A number can't be written as JSON.
pub fn json(
    size: &str,
    benchmarks: &[Benchmark],
    about: &[String],
    warnings: &[String],
) -> serde_json::Result<String> {
    serde_json::to_string_pretty(&Suite {
        size,
        about,
        warnings,
        benchmarks,
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::result::Recorded;
    use super::super::summary::Row;
    use super::*;

    #[test]
    fn every_line_has_every_column() {
        let row = |says: Option<Recorded>| Row {
            runtime: "onetbb",
            title: "oneTBB",
            bare: vec![4],
            recorded: vec![],
            speedup: Some(0.25),
            spread: None,
            loss: None,
            cpu_ratio: None,
            says,
            silent: None,
            trace: None,
            traces: Vec::new(),
            report: None,
        };
        let benchmarks = [Benchmark {
            program: "fib",
            about: "a tree",
            workers: 2,
            serial: Some(1),
            rows: vec![row(None), row(Some(Recorded::default()))],
        }];
        let text = csv(&benchmarks);
        let columns: Vec<usize> = text.lines().map(|l| l.split(',').count()).collect();
        assert_eq!(columns, [columns[0]; 3], "{text}");
        assert!(text.contains("fib,2,onetbb,1,4,4,4,1,0.2500,"), "{text}");
    }
}
