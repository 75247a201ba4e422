//! Hovers: all data of the run about a line.

use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind};

use crate::diagnostics::whole_line;
use crate::heat::Heat;
use crate::lines::{PlacedLine, State};

/// The hover of a line, from 1; `None` if the run has no data about it.
pub(crate) fn hover(
    heat: &Heat,
    text: &str,
    placed: &[PlacedLine<'_>],
    line: u32,
) -> Option<Hover> {
    let here = placed.iter().filter(|placed| placed.number == line);
    let parts: Vec<String> = here.flat_map(said).collect();
    if parts.is_empty() {
        return None;
    }
    let trace = heat.trace.file_name().unwrap_or_default();
    let value = format!(
        "{}\n\n*workspan, from {}*",
        parts.join("\n\n"),
        plain(&trace.to_string_lossy())
    );
    Some(Hover {
        contents: HoverContents::Markup(MarkupContent {
            kind: MarkupKind::Markdown,
            value,
        }),
        range: Some(whole_line(text, line)),
    })
}

fn said(placed: &PlacedLine<'_>) -> Vec<String> {
    let line = placed.line;
    let mut parts = Vec::new();
    match placed.state {
        State::Same => {}
        State::Moved { from } => parts.push(format!("Recorded as line {from}.")),
        State::Stale => parts.push(
            "**Stale**: this line has changed since the recording, or may have moved. Record again."
                .to_owned(),
        ),
    }
    let before = parts.len();
    for finding in &line.findings {
        parts.push(format!(
            "**{}**: {}: {}",
            finding.cause,
            plain(&finding.what),
            plain(&finding.loss_and_remedy)
        ));
    }
    for site in &line.sites {
        parts.push(format!(
            "Tasks created at {}: {}, work {}, span {}, parallelism {:.1}, {:.1} % of the critical path.",
            plain(&site.label),
            site.tasks,
            site.work,
            site.span,
            site.parallelism,
            site.critical_percent
        ));
    }
    if let Some(samples) = &line.samples {
        parts.push(format!(
            "{} ({}, {:.1} % of all) in `{}`; {:.1} % of those on the critical path.",
            samples.counted(),
            samples.time,
            samples.percent,
            samples.function.replace('`', "'"),
            samples.critical_percent
        ));
    }
    if parts.len() == before {
        parts.clear();
    }
    parts
}

/// Names of the program without markup.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    for c in text.chars() {
        if matches!(c, '<' | '>' | '[' | ']' | '*' | '\\') {
            plain.push('\\');
        }
        plain.push(if c.is_control() { ' ' } else { c });
    }
    plain
}
