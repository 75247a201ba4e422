//! The CPU time of the process and of its threads, as the trace has it.

use std::collections::BTreeMap;

use super::chunks_by_thread::TraceChunks;
use super::survey::slot;
use super::workers::Threads;
use workspan_dag::NONE;
use workspan_dag::cpu_time::CpuTimes;

/// The key of the note with the CPU time of the process since its recording began, in nanoseconds.
pub(super) const PROCESS: &str = "process_cpu_ns";
/// The key of the note that a trace of a part of the run has: what the whole process used says nothing of it.
const PART: &str = "part of the run";

/// What there is; `None` for a trace without any of it.
pub(super) fn cpu_times(chunks: &TraceChunks<'_>, threads: &Threads) -> Option<CpuTimes> {
    let note = |key: &str| chunks.notes.iter().find(|n| n.key == key);
    if note(PART).is_some() {
        return None;
    }
    let mut times = CpuTimes {
        process: note(PROCESS).and_then(|note| note.value.parse().ok()),
        ..CpuTimes::default()
    };
    let mut known: BTreeMap<u32, u64> = BTreeMap::new();
    let mut most = 0;
    for entry in &chunks.cpu_times {
        times.missing = times.missing.saturating_add(entry.missing);
        times.switches = times.switches.saturating_add(entry.switches);
        let number = entry.thread.and_then(|t| slot(&chunks.threads, t));
        let number = number.and_then(|slot| threads.number.get(slot).copied());
        // Of a thread that ran no task all is outside.
        let (inside, outside) = match number.filter(|&number| number != NONE) {
            Some(number) => (Some(number), entry.outside_ns.min(entry.ns)),
            None => (None, entry.ns),
        };
        times.outside = times.outside.saturating_add(outside);
        if outside > most && !entry.function.is_empty() {
            most = outside;
            times.outside_in = Some(entry.function.clone());
        }
        if let Some(number) = inside {
            let sum = known.entry(number).or_default();
            *sum = sum.saturating_add(entry.ns - outside);
        }
    }
    times.threads = known.into_iter().collect();
    (times.process.is_some() || !chunks.cpu_times.is_empty()).then_some(times)
}
