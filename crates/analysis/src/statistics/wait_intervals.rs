//! When a thread had a task in a wait below whatever it did.

use workspan_dag::{Dag, NONE, StartKind, ThreadId};

/// Per thread the times in which some task of it was in a wait that it left on the same thread.
pub(super) struct WaitIntervals {
    /// Per thread: disjoint [begin, end), ascending.
    threads: Vec<Vec<(u64, u64)>>,
}

impl WaitIntervals {
    /// O(n), and as much memory as there are times that no other covers.
    pub(super) fn new(dag: &Dag) -> WaitIntervals {
        let strands = &dag.strands;
        let mut threads: Vec<Vec<(u64, u64)>> = vec![Vec::new(); dag.meta.threads as usize];
        for s in 0..strands.len() {
            let prev = strands.prev[s];
            if strands.start_kind[s] != StartKind::AfterWait || prev == NONE {
                continue;
            }
            let thread = strands.thread[s];
            let (mut begin, end) = (strands.end[prev as usize], strands.start[s]);
            if strands.thread[prev as usize] != thread || begin >= end {
                continue;
            }
            // They come by their ends, so what the new one touches is at the end of the list.
            let times = &mut threads[thread as usize];
            while let Some(&(from, to)) = times.last()
                && to >= begin
            {
                begin = begin.min(from);
                times.pop();
            }
            times.push((begin, end));
        }
        WaitIntervals { threads }
    }

    /// Whether a task of `thread` was in a wait at `t`.
    pub(super) fn at(&self, thread: ThreadId, t: u64) -> bool {
        let Some(times) = self.threads.get(thread as usize) else {
            return false;
        };
        let i = times.partition_point(|&(_, end)| end <= t);
        times.get(i).is_some_and(|&(begin, _)| begin <= t)
    }
}
