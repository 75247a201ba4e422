//! The cost of skipping a join or a task: each has a test, and data that tell a thief about it.

use workspan_trace::entry::Note;

use super::is_task_class;
use workspan_dag::note_keys::{SKIPPED_JOIN, SKIPPED_TASK};

/// Costs in ticks; 0 if the trace does not have them.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(in crate::recorded) struct SkipCosts {
    /// The cost of a join.
    join: f64,
    /// The cost of a task that is created and waited for.
    task: f64,
}

impl SkipCosts {
    pub(in crate::recorded) fn from_notes(notes: &[Note]) -> SkipCosts {
        let cost = |key: &str| {
            let note = notes.iter().find(|n| n.key == key);
            let ticks = note.and_then(|n| n.value.parse::<f64>().ok());
            ticks.filter(|t| t.is_finite() && *t > 0.0).unwrap_or(0.0)
        };
        let [join, task] = [SKIPPED_JOIN, SKIPPED_TASK].map(cost);
        SkipCosts { join, task }
    }

    /// The cost per task created in a subtree with this recorded level. A join creates two.
    pub(super) fn a_task(&self, level: u64) -> f64 {
        match is_task_class(level) {
            true => self.task,
            false => self.join / 2.0,
        }
    }
}
