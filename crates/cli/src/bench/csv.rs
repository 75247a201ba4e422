//! The comparison as comma-separated values, with a line for each kernel, number of workers and
//! runtime; times in ns.

use std::fmt::Write;

use super::result::{Comparison, PARTS, Recorded};

/// The whole file.
pub fn csv(comparison: &Comparison) -> String {
    let mut out = String::from(
        "kernel,arguments,workers,runtime,built_by,repeat,elapsed,elapsed_min,elapsed_max,serial,speedup,recorded,overhead,\
         trace_runtime,trace_workers,trace_elapsed",
    );
    for (name, _) in PARTS {
        let _ = write!(out, ",{name}");
    }
    out.push_str(
        ",oversubscribed,delay_create,delay_buried,trace_work,trace_span,tasks,spawns,steals\n",
    );
    for group in &comparison.groups {
        for row in &group.rows {
            let built = comparison
                .runtimes
                .iter()
                .find(|r| r.0 == row.runtime)
                .map_or("", |r| r.1.as_str());
            let number = |n: Option<u64>| n.map_or_else(String::new, |n| n.to_string());
            let ratio = |r: Option<f64>| r.map_or_else(String::new, |r| format!("{r:.4}"));
            let fields = [
                group.kernel.name.into(),
                group.kernel.arguments.join(" "),
                group.workers.to_string(),
                row.runtime.name().into(),
                quoted(built),
                row.bare.len().to_string(),
                row.elapsed().to_string(),
                number(row.bare.first().copied()),
                number(row.bare.last().copied()),
                number(group.serial()),
                ratio(group.speedup(row)),
                number(super::result::median(&row.recorded)),
                ratio(row.overhead()),
            ];
            out.push_str(&fields.join(","));
            match &row.trace {
                Ok(trace) => traced(&mut out, trace),
                Err(_) => out.push_str(&",".repeat(18)),
            }
            out.push('\n');
        }
    }
    out
}

fn traced(out: &mut String, trace: &Recorded) {
    let _ = write!(
        out,
        ",{},{},{}",
        quoted(&trace.runtime),
        trace.parts.workers,
        trace.parts.elapsed
    );
    for part in trace.parts.list() {
        let _ = write!(out, ",{part}");
    }
    for number in [
        trace.parts.oversubscribed,
        trace.delay_create,
        trace.delay_buried,
        trace.work,
        trace.span,
        trace.tasks,
        trace.spawns,
        trace.steals,
    ] {
        let _ = write!(out, ",{number}");
    }
}

/// A text in quotes, because it may contain commas.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::kernels::KERNELS;
    use crate::bench::result::{Group, Row};
    use crate::bench::runtime::Runtime;

    #[test]
    fn every_line_has_every_column() {
        let row = |trace| Row {
            runtime: Runtime::OneTbb,
            bare: vec![4],
            recorded: vec![5],
            trace,
        };
        let comparison = Comparison {
            groups: vec![Group {
                kernel: KERNELS[0],
                workers: 2,
                rows: vec![row(Ok(Recorded::default())), row(Err("no".into()))],
            }],
            runtimes: vec![(Runtime::OneTbb, "g++ 1, \"x\"".into())],
            ..Comparison::default()
        };
        let text = csv(&comparison).replace("\"g++ 1, \"\"x\"\"\"", "built");
        let columns: Vec<usize> = text.lines().map(|l| l.split(',').count()).collect();
        assert_eq!(columns, [columns[0]; 3], "{text}");
        assert!(text.contains("onetbb,built,1,4,4,4,,,5,0.2500,"), "{text}");
    }
}
