//! Diagnostics: the report's findings at their lines.

use lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString,
    Position, PublishDiagnosticsParams, Range,
};

use crate::heat::Finding;
use crate::lines::{PlacedLine, State};
use crate::uri;
use crate::workspace::Workspace;

/// The diagnostics of all files that have any.
pub(crate) fn diagnostics(workspace: &Workspace) -> Vec<PublishDiagnosticsParams> {
    let of_file = |path| {
        let (text, placed) = workspace.placed_in(path)?;
        let all: Vec<Diagnostic> = placed
            .iter()
            .flat_map(|placed| of_line(workspace, &text, placed))
            .collect();
        let uri = uri::uri(path)?;
        (!all.is_empty()).then(|| PublishDiagnosticsParams::new(uri, all, None))
    };
    workspace.files().filter_map(of_file).collect()
}

fn of_line(workspace: &Workspace, text: &str, placed: &PlacedLine<'_>) -> Vec<Diagnostic> {
    let one = |finding: &Finding| {
        let severity = match placed.state {
            State::Stale => DiagnosticSeverity::HINT,
            _ => DiagnosticSeverity::WARNING,
        };
        Diagnostic {
            range: whole_line(text, placed.number),
            severity: Some(severity),
            code: Some(NumberOrString::String(finding.cause.to_owned())),
            source: Some("workspan".to_owned()),
            message: format!(
                "{}: {}{}",
                finding.what,
                finding.loss_and_remedy,
                placed.state.note()
            ),
            related_information: related(workspace, finding),
            ..Diagnostic::default()
        }
    };
    placed.line.findings.iter().map(one).collect()
}

/// The line with most of the finding's samples.
fn related(workspace: &Workspace, finding: &Finding) -> Option<Vec<DiagnosticRelatedInformation>> {
    let (file, line, function) = finding.hottest.as_ref()?;
    let uri = uri::uri(workspace.path_of(file)?)?;
    let at = Position::new(line.saturating_sub(1), 0);
    Some(vec![DiagnosticRelatedInformation {
        location: Location::new(uri, Range::new(at, at)),
        message: format!("most of the time here: {function}"),
    }])
}

/// A line, from 1, without its indentation. Columns are UTF-16 units, as the protocol counts them.
pub(crate) fn whole_line(text: &str, number: u32) -> Range {
    let line = number.saturating_sub(1);
    let text = text.lines().nth(line as usize).unwrap_or_default();
    let units = |text: &str| text.encode_utf16().count() as u32;
    let indented = units(text) - units(text.trim_start());
    let end = units(text.trim_end()).max(indented);
    Range::new(Position::new(line, indented), Position::new(line, end))
}
