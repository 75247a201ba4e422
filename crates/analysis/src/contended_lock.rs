//! Finds the lock that limits a program most, by the time for which it was held while others waited
//! for it.

use std::collections::BTreeMap;

use workspan_dag::{Dag, NONE, ThreadId, WaitCause, WaitKinds};

use crate::causes::Cause;

/// A lock that threads waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContendedLock {
    /// Ticks during which at least one thread waited while the holder was on the CPU. Sections
    /// under one lock run one after another, so no run takes less than this.
    pub held: u128,
    /// The stack of the longest wait for it: an index into the run's stacks.
    pub stack: u32,
}

/// The lock that was held for longest while others waited for it. O(n log n) for n stops.
pub(crate) fn most_contended(dag: &Dag) -> Option<ContendedLock> {
    let mut kinds = WaitKinds::new(&dag.samples);
    // By lock: the held time so far, the end of the last one, the longest wait and its stack.
    let mut locks: BTreeMap<u64, (u128, u64, u64, u32)> = BTreeMap::new();
    // Stops are in the order of time.
    for stop in &dag.samples.stops {
        // The time of an unrecorded holder is not in the work either.
        let is_known = |wait: &WaitCause| wait.object != 0 && wait.by != NONE;
        let Some(wait) = stop.wait.filter(is_known) else {
            continue;
        };
        if Cause::from(kinds.of(stop)) != Cause::Lock {
            continue;
        }
        let lock = locks.entry(wait.object).or_default();
        let until = stop.t.saturating_add(wait.held.min(stop.ticks));
        let from = stop.t.max(lock.1);
        if from < until {
            lock.0 += u128::from(until - from - off_cpu(dag, wait.by, from, until));
        }
        lock.1 = lock.1.max(until);
        if stop.ticks > lock.2 {
            (lock.2, lock.3) = (stop.ticks, stop.stack);
        }
    }
    let most = locks.into_values().max_by_key(|lock| lock.0)?;
    Some(ContendedLock {
        held: most.0,
        stack: most.3,
    })
}

/// Ticks for which the thread was off the CPU between two moments.
fn off_cpu(dag: &Dag, thread: ThreadId, from: u64, to: u64) -> u64 {
    let first = dag
        .offs
        .partition_point(|off| (off.thread, off.end) <= (thread, from));
    let there = dag.offs[first..].iter();
    there
        .take_while(|off| off.thread == thread && off.start < to)
        .map(|off| off.end.min(to) - off.start.max(from))
        .sum()
}
