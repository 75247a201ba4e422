//! The first statement of a report.

use crate::report::Report;

/// The kind of run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Headline {
    /// No time passed between the first start and the last end.
    NoTime,
    /// The program created no task.
    OneTask,
    /// The workers were busy.
    Nothing {
        /// The largest power of two of workers, at most 128, that the lower bound of MODEL.md §2
        /// still keeps three quarters busy.
        enough_for: u32,
    },
    /// Worker time was lost: [`super::Causes::findings`] says why.
    Lost,
}

/// The kind of run that `report` describes.
pub fn headline(report: &Report) -> Headline {
    if report.breakdown.elapsed() == 0 {
        Headline::NoTime
    } else if report.work_span.tasks <= 1 {
        Headline::OneTask
    } else if report.causes.is_little() {
        Headline::Nothing {
            enough_for: enough_for(report),
        }
    } else {
        Headline::Lost
    }
}

fn enough_for(report: &Report) -> u32 {
    let bound = |p: u32| report.work_span.speedup(p).0 / f64::from(p);
    (0..=7)
        .map(|k| 1u32 << k)
        .take_while(|&p| p == 1 || bound(p) >= 0.75)
        .last()
        .unwrap_or(1)
}
