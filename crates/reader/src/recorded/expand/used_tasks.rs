//! Selects the tasks that a set of strands needs.

use super::{ExpandedStrand, ExpandedTask};
use workspan_dag::NONE;

/// The tasks of `strands` with all their parents, out of all tasks. The strands' task numbers
/// become indices into the result.
pub(super) fn tasks_of(
    all: Vec<ExpandedTask>,
    strands: &mut [ExpandedStrand],
) -> Vec<ExpandedTask> {
    let mut needed = vec![false; all.len()];
    for strand in &*strands {
        let mut at = strand.task;
        while let Some(needed) = needed.get_mut(at as usize).filter(|n| !**n) {
            *needed = true;
            at = all[at as usize].parent;
        }
    }
    let mut new = vec![NONE; all.len()];
    let mut tasks = Vec::new();
    for (at, mut task) in all.into_iter().enumerate() {
        if needed[at] {
            new[at] = tasks.len() as u32;
            task.parent = new.get(task.parent as usize).copied().unwrap_or(NONE);
            tasks.push(task);
        }
    }
    for strand in strands {
        strand.task = new[strand.task as usize];
    }
    tasks
}
