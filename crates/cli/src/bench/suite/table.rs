//! The suite as a table for the terminal.

use std::fmt::Write;

use super::super::result::median;
use super::super::table::{paragraph, time};
use super::summary::{Benchmark, Row, cost};

const LEGEND: &str = "speedup: over the serial elision of the C++ source, by the medians of the bare runs, then by the slowest \
                      and the fastest; loss: the share of workers x elapsed that the serial elision would not have taken; \
                      CPU: recorded over bare CPU time of the process at default settings. Work and span are those of \
                      the measured part in the fastest recorded run (workspan report --only part:measured); the sentence \
                      is the part's first finding that is not about other programs' load.";

/// All benchmarks; `about` has lines on the machine and the runtimes.
pub fn text(benchmarks: &[Benchmark], about: &[String], warnings: &[String]) -> String {
    let mut out = String::new();
    for line in about {
        let _ = writeln!(out, "{line}");
    }
    for benchmark in benchmarks {
        let _ = writeln!(out);
        one(&mut out, benchmark);
    }
    let _ = writeln!(out);
    for sentence in cost(benchmarks).iter().chain([&LEGEND.to_owned()]) {
        paragraph(&mut out, "", sentence);
    }
    for warning in warnings {
        paragraph(&mut out, "", &format!("note: {warning}"));
    }
    out
}

fn one(out: &mut String, benchmark: &Benchmark) {
    let workers = match benchmark.workers {
        1 => "1 worker".to_owned(),
        n => format!("{n} workers"),
    };
    let _ = writeln!(out, "{}, {workers}: {}", benchmark.program, benchmark.about);
    let _ = writeln!(
        out,
        "  {:<16}{:>9}{:>9}{:>15}{:>7}{:>9}{:>9}{:>13}{:>9}{:>6}",
        "", "elapsed", "speedup", "", "loss", "work", "span", "parallelism", "tasks", "CPU"
    );
    for row in &benchmark.rows {
        line(out, row);
    }
    let slowest = benchmark.rows.iter().filter(|row| row.runtime != "serial");
    let slowest = slowest.max_by_key(|row| median(&row.bare));
    if let Some(says) = slowest.and_then(|row| Some((row.title, &row.says.as_ref()?.says))) {
        paragraph(out, "  ", &format!("{}: {}", says.0, says.1));
    }
}

/// The number, or an empty string.
pub fn number(number: Option<f64>, digits: usize) -> String {
    number.map_or_else(String::new, |n| format!("{n:.digits$}"))
}

/// Work over span, from the results of a trace.
pub fn parallelism(row: &Row) -> Option<f64> {
    let says = row.says.as_ref()?;
    (says.span > 0).then(|| says.work as f64 / says.span as f64)
}

fn line(out: &mut String, row: &Row) {
    let spread = match row.spread {
        Some([slow, fast]) if row.bare.len() > 1 => format!("{slow:.2} - {fast:.2}"),
        _ => String::new(),
    };
    let loss = row
        .loss
        .map_or_else(String::new, |loss| format!("{:.0} %", 100.0 * loss));
    let _ = write!(
        out,
        "  {:<16}{:>9}{:>9}{spread:>15}{loss:>7}",
        row.title,
        time(median(&row.bare).unwrap_or(0)),
        number(row.speedup, 2)
    );
    match (&row.says, &row.silent) {
        (Some(says), _) => {
            let _ = writeln!(
                out,
                "{:>9}{:>9}{:>13}{:>9}{:>6}",
                time(says.work),
                time(says.span),
                number(parallelism(row), 1),
                workspan_export::thousands(u128::from(says.tasks)),
                number(row.cpu_ratio, 2)
            );
        }
        (None, Some(why)) => {
            let _ = writeln!(out, "  {why}");
        }
        (None, None) => out.push('\n'),
    }
}
