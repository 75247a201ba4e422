//! The report of `--each`, with a row for each test or benchmark.

use std::io::{Write, stderr};
use std::path::{Path, PathBuf};

use anyhow::Context;
use workspan_analysis::Options;
use workspan_analysis::causes::{Cause, Causes};
use workspan_analysis::compare::measure;
use workspan_export::{CompareOptions, EachRow, each_text};
use workspan_record::launch::each::name_of;

use crate::output::{Color, charset, width};
use crate::trace::{Reading, open};

/// Prints what limits each test or benchmark, one trace each, to stderr.
///
/// # Errors
/// A trace can't be read, or stderr can't be written.
pub fn print_table(traces: &[PathBuf]) -> anyhow::Result<()> {
    let rows = traces.iter().map(|path| row(path));
    let rows = rows.collect::<anyhow::Result<Vec<EachRow>>>()?;
    let mut out = stderr();
    let looks = CompareOptions {
        width: width(&out),
        color: Color::Auto.applies(&out),
        charset: charset(false, &out),
        ..CompareOptions::default()
    };
    out.write_all(each_text(&rows, &looks).as_bytes())?;
    Ok(())
}

fn row(path: &Path) -> anyhow::Result<EachRow> {
    let dag = open(path, &Reading::default().measured(false))?;
    let report = workspan_analysis::report(&dag, &Options::default())
        .with_context(|| path.display().to_string())?;
    let name = dag.meta.command.as_deref().and_then(name_of);
    let name = name.or(dag.meta.name.clone());
    let name = name.unwrap_or_else(|| "program".into());
    Ok(EachRow {
        measures: measure(&dag, &report, name.clone()),
        name,
        cause: first_cause(&report.causes),
    })
}

/// The first cause about the program; about the machine if there is no other.
fn first_cause(causes: &Causes) -> Option<Cause> {
    let findings = causes.findings();
    let of_program = findings.iter().find(|finding| !finding.cause.is_load());
    of_program.or(findings.first()).map(|finding| finding.cause)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Other programs used the CPUs for most of the lost time.
    const BUSY_MACHINE: &str = r#"{"workspan_trace":1,"workers":2,"time_unit":"ns","steals":"child","cpus":2}
{"ev":"begin","t":0,"w":0,"task":0}
{"ev":"create","t":300,"w":0,"task":0,"child":1,"site":"a.rs:3"}
{"ev":"resume","t":300,"w":0,"task":0}
{"ev":"begin","t":1300,"w":1,"task":1}
{"ev":"wait","t":310,"w":0,"task":0}
{"ev":"off","t":1400,"w":1,"why":"preempted"}
{"ev":"on","t":4400,"w":1}
{"ev":"end","t":4700,"w":1,"task":1}
{"ev":"resume","t":4700,"w":0,"task":0}
{"ev":"end","t":4800,"w":0,"task":0}
"#;

    #[test]
    fn the_cause_of_a_row_is_about_the_program() {
        let folder = tempfile::tempdir().unwrap();
        let trace = folder.path().join("busy.jsonl");
        std::fs::write(&trace, BUSY_MACHINE).unwrap();
        let dag = open(&trace, &Reading::default().measured(false)).unwrap();
        let report = workspan_analysis::report(&dag, &Options::default()).unwrap();
        assert_eq!(report.causes.findings()[0].cause, Cause::Descheduled);
        let cause = row(&trace).unwrap().cause.unwrap();
        assert!(!cause.is_load(), "{cause:?}");
    }
}
