//! When threads leave the CPU and come back.

use workspan_dag::{Dag, OffCpuReason};

/// A thread goes off the CPU or comes back: (time, thread, its new state).
pub(crate) type OffCpuEvent = (u64, u32, Option<OffCpuReason>);

/// All such events, by time.
pub(crate) fn off_cpu_events(dag: &Dag) -> Vec<OffCpuEvent> {
    let mut offs = Vec::with_capacity(2 * dag.offs.len());
    for off in dag.offs.iter().filter(|o| o.start < o.end) {
        let thread = off.thread;
        offs.push((off.start, thread, Some(off.why)));
        offs.push((off.end, thread, None));
    }
    // An interval that begins when another ends must begin after it has ended.
    offs.sort_by_key(|&(time, thread, why)| (time, thread, why.is_some()));
    offs
}
