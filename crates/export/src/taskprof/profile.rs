//! Writes the spawn sites of a report as TaskProf writes its parallelism profile.

use std::fmt::Write;

use workspan_analysis::Report;
use workspan_dag::{Dag, ROOT_PLACE};

/// The head of the table; TaskProf has none over the fourth column, the critical per cent.
const HEAD: &str = "Source file,Line number,Parallelism\n";

/// A row a spawn site, the program first as `main,0`: file, line, parallelism, critical per cent.
/// Sites without a line have their label for a file and line 0, as the program has.
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

/// A cell, in quotes where it has to be. A line end has no place in a name.
fn cell(text: &str) -> String {
    let text = text.replace(['\n', '\r'], " ");
    if text.contains([',', '"']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}
