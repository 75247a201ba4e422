//! Writes the spawn sites of a report in the format of TaskProf's parallelism profile.

use std::fmt::Write;

use workspan_analysis::Report;
use workspan_dag::{Dag, ROOT_PLACE};

/// The heading of the table; TaskProf has none for the fourth column, the critical percentage.
const HEAD: &str = "Source file,Line number,Parallelism\n";

/// One row per spawn site, the program first as `main,0`: file, line, parallelism, critical
/// percentage. Sites without a line have their label as the file and line 0, like the program.
pub fn taskprof_csv(dag: &Dag, report: &Report) -> String {
    let mut out = String::from(HEAD);
    for row in &report.sites {
        let place = &dag.places[row.site as usize];
        let (file, line, parallelism) = match (row.site, place.file.as_deref(), place.line) {
            // The root's parallelism is that of the program.
            (ROOT_PLACE, _, _) => ("main", 0, report.work_span.parallelism()),
            (_, Some(file), Some(line)) => (file, line, row.parallelism()),
            _ => (place.label.as_str(), 0, row.parallelism()),
        };
        let critical = row.critical_percent;
        let _ = writeln!(out, "{},{line},{parallelism:.6},{critical:.6}", cell(file));
    }
    out
}

/// A cell, in quotes if necessary. Newlines in names are removed.
fn cell(text: &str) -> String {
    let text = text.replace(['\n', '\r'], " ");
    if text.contains([',', '"']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}
