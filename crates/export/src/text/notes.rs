//! Warnings, each beside the number it spoils.

use workspan_analysis::Report;

use crate::page::{Page, Tone};

/// What a warning is about, and so where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum About {
    Everything,
    Breakdown,
    Span,
    Sites,
}

/// Most warnings shown in one place; all are in the JSON report and in `info`.
const SHOWN: usize = 4;

/// The warnings not shown yet.
pub(super) struct Notes {
    left: Vec<(About, String)>,
}

impl Notes {
    pub(super) fn of(report: &Report) -> Self {
        Self {
            left: report
                .warnings
                .iter()
                .filter(|w| !said_already(w))
                .map(|w| (about(w), w.clone()))
                .collect(),
        }
    }

    /// Shows those about `what` here.
    pub(super) fn show(&mut self, page: &mut Page, what: About) {
        let (now, later): (Vec<_>, Vec<_>) = self.left.drain(..).partition(|n| n.0 == what);
        self.left = later;
        for (_, text) in now.iter().take(SHOWN) {
            page.prose("  ! ", 4, &[(Tone::Bad, text.clone())]);
        }
        if now.len() > SHOWN {
            let more = format!(
                "    {} more like this in the JSON report (--json)",
                now.len() - SHOWN
            );
            page.line(&[(Tone::Faint, more)]);
        }
    }
}

/// The first sentence of such a report says it.
fn said_already(warning: &str) -> bool {
    warning.starts_with("No time passed")
}

/// Warnings are sentences; their words tell which number they spoil. What is not recognised spoils everything.
fn about(warning: &str) -> About {
    let text = warning.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|w| text.contains(w));
    if text.starts_with("off-cpu times") {
        About::Breakdown
    } else if has(&[
        "truncated",
        "damage",
        "dropped",
        "lost",
        "repaired",
        "not complete",
        "incomplete",
    ]) {
        About::Everything
    } else if has(&["line table", "debug info", "symbol", "stripped"]) {
        About::Sites
    } else if has(&[
        "descheduled",
        "preempted",
        "off the cpu",
        "off-cpu",
        "blocked",
        "oversubscribed",
        "ran at once",
        "shared",
    ]) {
        About::Breakdown
    } else if has(&["span", "parallelism", "burden", "steal"]) {
        About::Span
    } else {
        About::Everything
    }
}
