//! Ends that are recorded late. Some runtimes let the task that waits go on before the call that
//! runs the awaited task returns. A recorder that sees only calls then records the end a moment
//! later, or never when the process exits first. An awaited task had ended when the wait was over,
//! so its end is moved there.

use super::graph::Graph;
use crate::dag::{EndKind, NONE};

/// Puts the end of each task that a wait joined, and whose last strand had begun by the end of that
/// wait, no later than that. O(joins + waits · log waits).
///
/// A task that was left out of the recording has a strand that stands for it and one up to its end,
/// and both are reported late together. If the task has parts, the first of these strands ends with
/// a wait, which then was over earlier too. So waits are visited in the order in which they were
/// over.
pub(super) fn clip(graph: &mut Graph<'_>) {
    let Graph {
        tasks,
        strands,
        waits,
        ..
    } = graph;
    let mut in_time: Vec<u32> = (0..waits.after.len() as u32).collect();
    in_time.sort_by_key(|&wait| strands.start[waits.after[wait as usize] as usize]);
    for wait in in_time {
        let after = waits.after[wait as usize];
        let over = strands.start[after as usize];
        for &task in waits.tasks.get(wait as usize) {
            let mut last = tasks.last[task as usize] as usize;
            let before = strands.prev[last];
            if before != NONE && strands.start[last] > over {
                let (start, end) = (strands.start[before as usize], strands.end[before as usize]);
                let kind = strands.end_kind[before as usize];
                let stands =
                    matches!(kind, EndKind::Yield | EndKind::Wait) && end == strands.start[last];
                if stands && start <= over {
                    (strands.start[last], strands.end[last]) = (over, over);
                    last = before as usize;
                }
            }
            if strands.start[last] <= over && over < strands.end[last] {
                strands.end[last] = over;
            }
        }
    }
}
