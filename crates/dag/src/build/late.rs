//! Ends that are told late: some runtimes let whoever waits for a task go on before the call that runs it returns, so a recorder
//! that sees calls alone tells the end a moment afterwards, or never, when the process is at its end by then. What was waited for had
//! ended when the wait was over, so such an end is put there.

use super::graph::Graph;

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
            let last = tasks.last[task as usize] as usize;
            if strands.start[last] <= over && over < strands.end[last] {
                strands.end[last] = over;
            }
        }
    }
}
