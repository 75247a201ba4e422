//! Saturated intervals: time in which no worker is free. Whatever starts and ends in them, nothing
//! is delayed and no worker is idle.
//!
//! A thread that goes from strand to strand without a pause keeps running. So the set of running
//! threads changes far less often than strands do. An interval between two such changes is one
//! moment of the sweep, however many strands start and end in it.

use workspan_dag::cancel::checked;
use workspan_dag::{Dag, OffCpuReason};

use crate::off_cpu_events::OffCpuEvent;

/// Saturated intervals are used only if the set of running threads changes less often than once in
/// this many strands.
const MIN_STRANDS_PER_CHANGE: usize = 16;

/// An interval: start and end.
pub(crate) type SaturatedInterval = (u64, u64);

/// The saturated intervals, in order. In each one the same threads run strands without a pause,
/// they are at least as many as there are workers, and none of them is off the CPU. Empty if using
/// them is not worthwhile, on a single worker, and if strands of a thread overlap.
pub(crate) fn saturated_intervals(dag: &Dag, offs: &[OffCpuEvent]) -> Vec<SaturatedInterval> {
    let mut changes = match run_changes(dag) {
        Some(changes) if dag.meta.workers > 1 => changes,
        _ => return Vec::new(),
    };
    changes.sort_unstable();
    let threads = dag.meta.threads as usize;
    let mut now = ThreadStates {
        runs: vec![false; threads],
        off: vec![None; threads],
        running: 0,
        running_off: 0,
    };
    let (mut changes, mut offs) = (changes.iter().peekable(), offs.iter().peekable());
    let mut stretches = Vec::new();
    let mut from: Option<u64> = None;
    loop {
        let next = [changes.peek().map(|c| c.0), offs.peek().map(|o| o.0)];
        let Some(time) = next.into_iter().flatten().min() else {
            return stretches;
        };
        if let Some(from) = from.filter(|&from| from < time) {
            stretches.push((from, time));
        }
        while let Some(&&(_, thread)) = changes.peek().filter(|c| c.0 == time) {
            let runs = now.runs[thread as usize];
            now.set(thread as usize, !runs, now.off[thread as usize]);
            changes.next();
        }
        while let Some(&&(_, thread, why)) = offs.peek().filter(|o| o.0 == time) {
            let runs = now.runs[thread as usize];
            now.set(thread as usize, runs, why);
            offs.next();
        }
        let full = now.running >= dag.meta.workers as usize && now.running_off == 0;
        from = full.then_some(time);
    }
}

/// The states of the threads.
struct ThreadStates {
    runs: Vec<bool>,
    off: Vec<Option<OffCpuReason>>,
    running: usize,
    /// Number of running threads that are off the CPU.
    running_off: usize,
}

impl ThreadStates {
    fn set(&mut self, thread: usize, runs: bool, off: Option<OffCpuReason>) {
        let count = |now: &ThreadStates| {
            let runs = now.runs[thread];
            (
                usize::from(runs),
                usize::from(runs && now.off[thread].is_some()),
            )
        };
        let before = count(self);
        (self.runs[thread], self.off[thread]) = (runs, off);
        let after = count(self);
        self.running = self.running + after.0 - before.0;
        self.running_off = self.running_off + after.1 - before.1;
    }
}

/// The times at which threads begin or stop running strands, in any order: (time, thread). `None`
/// if there are too many of them, or if strands of a thread overlap.
fn run_changes(dag: &Dag) -> Option<Vec<(u64, u32)>> {
    let strands = &dag.strands;
    let most = strands.len() / MIN_STRANDS_PER_CHANGE;
    let mut until: Vec<Option<u64>> = vec![None; dag.meta.threads as usize];
    let mut changes = Vec::new();
    for s in checked(0..strands.len()) {
        let (start, end) = (strands.start[s], strands.end[s]);
        if start == end {
            continue;
        }
        let until = &mut until[strands.thread[s] as usize];
        match *until {
            Some(before) if before == start => {}
            Some(before) if before > start || changes.len() > most => return None,
            before => {
                changes.extend(before.map(|t| (t, strands.thread[s])));
                changes.push((start, strands.thread[s]));
            }
        }
        *until = Some(end);
    }
    let last = until.into_iter().zip(0u32..);
    changes.extend(last.filter_map(|(until, thread)| Some((until?, thread))));
    (changes.len() <= most).then_some(changes)
}
