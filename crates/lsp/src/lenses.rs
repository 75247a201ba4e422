//! Code lenses above lines, which show how much each line weighs.

use lsp_types::{CodeLens, Command, Range};

use crate::diagnostics::whole_line;
use crate::lines::PlacedLine;

/// Maximum number of lenses of a file: those of the heaviest lines.
const MAX_LENSES: usize = 60;
/// Minimum share of the samples, in percent, for a lens on a line that creates no tasks.
const MIN_PERCENT: f64 = 1.0;

/// The lenses of a file.
pub(crate) fn lenses(text: &str, placed: &[PlacedLine<'_>]) -> Vec<CodeLens> {
    let mut all: Vec<(f64, Range, String)> = placed
        .iter()
        .filter_map(|placed| {
            let (weight, title) = title(placed)?;
            Some((weight, whole_line(text, placed.number), title))
        })
        .collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    all.truncate(MAX_LENSES);
    all.sort_by_key(|(_, range, _)| range.start.line);
    let lens = |(_, range, title)| CodeLens {
        range,
        // Editors show a lens only if it has a command; this command does nothing.
        command: Some(Command::new(title, String::new(), None)),
        data: None,
    };
    all.into_iter().map(lens).collect()
}

/// The line's weight in percent, and the text of its lens.
fn title(placed: &PlacedLine<'_>) -> Option<(f64, String)> {
    let line = placed.line;
    let mut weight = 0.0f64;
    let mut parts = Vec::new();
    for site in &line.sites {
        weight = weight.max(100.0).max(site.critical_percent);
        parts.push(format!(
            "tasks: {:.1} % of the critical path, {} created, parallelism {:.1}",
            site.critical_percent, site.tasks, site.parallelism
        ));
    }
    if let Some(samples) = &line.samples {
        weight = weight.max(samples.percent).max(samples.critical_percent);
        parts.push(format!(
            "critical {:.1} %, {} ({})",
            samples.critical_percent,
            samples.counted(),
            samples.time
        ));
    }
    (weight >= MIN_PERCENT).then(|| {
        (
            weight,
            format!("{}{}", parts.join("; "), placed.state.note()),
        )
    })
}
