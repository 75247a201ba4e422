//! What it costs that a join or a task is left out: in each there is a test, and what tells a thief
//! of it.

use workspan_trace::entry::Note;

use super::is_of_tasks;
use workspan_dag::note_keys::{SKIPPED_JOIN, SKIPPED_TASK};

/// In ticks; 0 where the trace does not say.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(in crate::recorded) struct SkipCosts {
    /// A join.
    join: f64,
    /// A task that is created and waited for.
    task: f64,
}

impl SkipCosts {
    pub(in crate::recorded) fn of(notes: &[Note]) -> SkipCosts {
        let cost = |key: &str| {
            let note = notes.iter().find(|n| n.key == key);
            let ticks = note.and_then(|n| n.value.parse::<f64>().ok());
            ticks.filter(|t| t.is_finite() && *t > 0.0).unwrap_or(0.0)
        };
        let [join, task] = [SKIPPED_JOIN, SKIPPED_TASK].map(cost);
        SkipCosts { join, task }
    }

    /// What each task costs that is created in a subtree of that level, as recorded. A join creates
    /// two.
    pub(super) fn a_task(&self, level: u64) -> f64 {
        match is_of_tasks(level) {
            true => self.task,
            false => self.join / 2.0,
        }
    }
}
