//! Sizes of tasks, which a program tells by a counter (MODEL.md §1).

use crate::dag::{Dag, StrandId, TaskId};

/// The name of the counter by which a program tells a task's size.
pub const SIZE_COUNTER: &str = "size";

/// The number of elements that each task works on, of those tasks that tell it (MODEL.md §1).
///
/// What a folded strand counted is the sum over a subtree, so a task that told its size in one has
/// none here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskSizes(Vec<(TaskId, u64)>);

impl TaskSizes {
    /// The sizes of a run's tasks. O(n log n) in the number of strands that tell one.
    pub fn new(dag: &Dag) -> TaskSizes {
        let mut of: Vec<(TaskId, u64)> = Vec::new();
        let sizes = dag.counters.iter().filter(|c| c.name == SIZE_COUNTER);
        for &(s, size) in sizes.flat_map(|counter| &counter.values) {
            if !dag.folded.has(s) {
                of.push((dag.strands.task[s as usize], size));
            }
        }
        of.sort_unstable();
        of.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 = kept.1.saturating_add(next.1);
            }
            same
        });
        TaskSizes(of)
    }

    /// The size of a task, if it told one.
    pub fn of(&self, task: TaskId) -> Option<u64> {
        let at = self.0.binary_search_by_key(&task, |of| of.0).ok()?;
        Some(self.0[at].1)
    }

    /// The size of the task of strand `s`. A folded strand stands for many tasks and has none.
    pub fn of_strand(&self, dag: &Dag, s: StrandId) -> Option<u64> {
        if self.is_empty() || dag.folded.has(s) {
            return None;
        }
        self.of(dag.strands.task[s as usize])
    }

    /// Whether no task told its size.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
