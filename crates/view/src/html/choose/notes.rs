//! The notes on what a report contains, as sentences.

use super::Nodes;
use crate::session::Session;

pub(super) fn notes(
    session: &Session,
    finest: u32,
    &(files, lines): &(usize, usize),
    nodes: Nodes,
    all_details: bool,
) -> Vec<String> {
    let first = session.runs.first().and_then(|run| run.model().ok());
    let ns = first.map_or(0.0, |model| {
        let rate = model.dag.meta.ticks_per_second.max(1) as f64;
        2f64.powi(finest as i32) / rate * 1e9
    });
    let mut notes = vec![format!(
        "Detail: the whole run in steps of {}, finer around the findings and the critical path; {} items of the DAG.",
        length(ns),
        nodes.items
    )];
    let strands = session.runs.iter().filter_map(|run| run.model().ok());
    let folded: usize = strands.map(|model| model.dag.folded.len()).sum();
    if folded > 0 {
        notes.push(format!(
            "Of {folded} folded subtrees {} can be opened in the file; with the trace, `workspan view` opens them.",
            nodes.folded
        ));
    }
    notes.push(match (files, all_details) {
        (0, _) => "No source lines are inside.".to_owned(),
        (1, _) => format!("{lines} source lines of 1 file are inside: mind whom you send it to."),
        _ => format!("{lines} source lines of {files} files are inside: mind whom you send it to."),
    });
    if !all_details {
        notes.push("Not every task's details are inside; --budget carries more.".to_owned());
    }
    notes
}

fn length(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{ns:.0} ns"),
        ns if ns < 1e6 => format!("{:.1} us", ns / 1e3),
        ns if ns < 1e9 => format!("{:.1} ms", ns / 1e6),
        _ => format!("{:.1} s", ns / 1e9),
    }
}
