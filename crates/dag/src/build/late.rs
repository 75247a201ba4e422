//! Ends that are told late: some runtimes let whoever waits for a task go on before the call that runs it returns, so a recorder
//! that sees calls alone tells the end a moment afterwards, or never, when the process is at its end by then. What was waited for had
//! ended when the wait was over, so such an end is put there.

use super::graph::Graph;
use crate::dag::{EndKind, NONE};

/// Puts the end of each task that a wait joined, and whose last strand had begun by the end of that wait, no later than that. Linear in
/// the joins.
pub(super) fn cut(graph: &mut Graph<'_>) {
    let Graph {
        tasks,
        strands,
        waits,
        ..
    } = graph;
    for (wait, &after) in waits.after.iter().enumerate() {
        let over = strands.start[after as usize];
        for &task in waits.tasks.get(wait) {
            let mut last = tasks.last[task as usize] as usize;
            // That of a task that was left out begins where its body returned, and that may be told late too.
            let before = strands.prev[last];
            if strands.start[last] > over
                && before != NONE
                && strands.end_kind[before as usize] == EndKind::Yield
                && strands.start[before as usize] <= over
            {
                (strands.start[last], strands.end[last]) = (over, over);
                last = before as usize;
            }
            if strands.start[last] <= over && over < strands.end[last] {
                strands.end[last] = over;
            }
        }
    }
}
