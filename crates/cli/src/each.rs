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
    let findings = causes.findings_program_first();
    findings.first().map(|(_, finding)| finding.cause)
}
