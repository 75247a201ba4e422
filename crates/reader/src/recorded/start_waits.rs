//! How long the threads that the program started waited for a CPU before they began.
//!
//! A trace has this as an off-CPU time that ends with the thread's first record. Threads may share
//! a number with others that ran meanwhile (MODEL.md §5), so before threads are numbered, the time
//! is also stored with the thread's task.

use super::places::Places;
use workspan_dag::OffCpuReason;
use workspan_dag::raw::RawTrace;

/// Adds these times to `raw`, in which `threads` threads are still numbered by their order in the
/// file.
pub(super) fn add(raw: &mut RawTrace, threads: usize, places: &Places) {
    let is_thread = |task: u32| places.list[raw.tasks[task as usize].site as usize].is_thread();
    if raw.offs.is_empty() || !places.list.iter().any(|place| place.is_thread()) {
        return;
    }
    // Each thread's first strand: its start and its task.
    let mut first: Vec<Option<(u64, u32)>> = vec![None; threads];
    for strand in raw.strands.iter() {
        if let Some(first) = first.get_mut(strand.thread as usize) {
            let own = (strand.start, strand.task);
            *first = Some(first.map_or(own, |known| known.min(own)));
        }
    }
    let preempted = raw
        .offs
        .iter()
        .filter(|off| off.why == OffCpuReason::Preempted);
    let of_starts = preempted.filter_map(|off| {
        let (start, task) = (*first.get(off.thread as usize)?)?;
        (off.end <= start && is_thread(task)).then_some((task, off.end - off.start))
    });
    let mut waits: Vec<(u32, u64)> = of_starts.collect();
    waits.sort_unstable();
    waits.dedup_by(|later, first| {
        let same = later.0 == first.0;
        if same {
            first.1 = first.1.saturating_add(later.1);
        }
        same
    });
    raw.start_waits = waits;
}
