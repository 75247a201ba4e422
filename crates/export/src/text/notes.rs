//! Shows each warning next to the numbers that it concerns.

pub(super) use workspan_analysis::WarningTopic;
use workspan_analysis::{Report, Warning};

use crate::page::{Page, Tone};

/// Maximum number of warnings shown in one place. The JSON report and `info` have all of them.
const MAX_SHOWN: usize = 4;

/// The warnings that have not been shown yet.
pub(super) struct Notes {
    left: Vec<Warning>,
}

impl Notes {
    pub(super) fn new(report: &Report) -> Self {
        Self {
            // The report's first sentence says that no time passed.
            left: report
                .warnings
                .iter()
                .filter(|w| w.about != WarningTopic::NoTime)
                .cloned()
                .collect(),
        }
    }

    /// All warnings that were not shown. Those about everything come first, and among them those
    /// about what was not recorded.
    pub(super) fn rest(mut self) -> Vec<Warning> {
        self.left.sort_by_key(|w| {
            let is_missing = w.text.contains("not recorded");
            (w.about != WarningTopic::Everything, !is_missing)
        });
        self.left
    }

    /// Shows the warnings about `what` here.
    pub(super) fn show(&mut self, page: &mut Page, what: WarningTopic) {
        let (now, later): (Vec<_>, Vec<_>) = self.left.drain(..).partition(|w| w.about == what);
        self.left = later;
        for warning in now.iter().take(MAX_SHOWN) {
            page.prose("  ! ", 4, &[(Tone::Bad, warning.text.clone())]);
        }
        if now.len() > MAX_SHOWN {
            let more = format!(
                "    {} more like this in the JSON report (--json)",
                now.len() - MAX_SHOWN
            );
            page.line(&[(Tone::Faint, more)]);
        }
    }
}
