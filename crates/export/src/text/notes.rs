//! Warnings, each beside the number it spoils.

pub(super) use workspan_analysis::About;
use workspan_analysis::{Report, Warning};

use crate::page::{Page, Tone};

/// Most warnings shown in one place; all are in the JSON report and in `info`.
const SHOWN: usize = 4;

/// The warnings not shown yet.
pub(super) struct Notes {
    left: Vec<Warning>,
}

impl Notes {
    pub(super) fn of(report: &Report) -> Self {
        Self {
            // The first sentence of a report of no time says it.
            left: report
                .warnings
                .iter()
                .filter(|w| w.about != About::NoTime)
                .cloned()
                .collect(),
        }
    }

    /// Shows those about `what` here.
    pub(super) fn show(&mut self, page: &mut Page, what: About) {
        let (now, later): (Vec<_>, Vec<_>) = self.left.drain(..).partition(|w| w.about == what);
        self.left = later;
        for warning in now.iter().take(SHOWN) {
            page.prose("  ! ", 4, &[(Tone::Bad, warning.text.clone())]);
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
