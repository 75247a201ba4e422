//! The times in which a thread had a task in a wait below its running task.

use workspan_dag::{Dag, NONE, StartKind, StrandId, ThreadId};

/// By thread: the times in which a task of the thread was in a wait that it left on the same
/// thread.
pub(super) struct WaitIntervals {
    /// By thread: disjoint intervals `[begin, end)`, ascending.
    threads: Vec<Vec<(u64, u64)>>,
}

impl WaitIntervals {
    /// O(n); takes memory for the disjoint intervals only.
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
            // Intervals come in the order of their ends, so the ones that the new interval touches
            // are at the end of the list.
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

/// The `stolen` strands that are leapfrogs, in their order: the runtime marked the task as one, or
/// the thief took it while one of its own tasks was in a wait. O(n + s log n) for s stolen strands.
pub fn leapfrogs(dag: &Dag, stolen: &[StrandId]) -> Vec<StrandId> {
    if stolen.is_empty() {
        return Vec::new();
    }
    let reported = dag.steals.iter().filter(|s| s.leap && s.task != NONE);
    let mut reported: Vec<_> = reported.map(|s| (s.task, s.thief)).collect();
    reported.sort_unstable();
    let waits = WaitIntervals::new(dag);
    let strands = &dag.strands;
    let is_leap = |&s: &StrandId| {
        let (task, thief) = (strands.task[s as usize], strands.thread[s as usize]);
        let is_reported =
            dag.tasks.first[task as usize] == s && reported.binary_search(&(task, thief)).is_ok();
        is_reported || waits.at(thief, strands.start[s as usize])
    };
    stolen.iter().copied().filter(is_leap).collect()
}
