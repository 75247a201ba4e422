//! The CPU time of a recorded process, thread by thread, from the kernel's context switches. It is
//! compared with the trace's strands, and shows what ran on threads that no runtime knows.

use std::collections::BTreeMap;

use workspan_perf::OnCpuTimes;
use workspan_symbols::{Mapping, Workspace};
use workspan_trace::Trace;
use workspan_trace::chunk::ChunkKind;
use workspan_trace::entry::{self, CpuTime, ThreadEntry};
use workspan_trace::reader::Tolerance;

use crate::kernel::clock::Clock;
use crate::kernel::samples::Samples;

/// For less CPU time than this, it is not worth finding the function it was spent in.
const MIN_NAMED_NS: u64 = 1_000_000;

/// An entry for each thread that ran.
pub fn cpu_times(
    trace: &Trace<'_>,
    on: &OnCpuTimes,
    samples: &Samples,
    mappings: &[Mapping],
    workspace: &Workspace,
) -> Vec<CpuTime> {
    let clock = Clock::from_trace(trace);
    // A killed process has no end record; the kernel saw its threads until then.
    let to = match clock.end {
        u64::MAX => u64::MAX,
        _ => clock.last_ns,
    };
    let from = trace.header.start_ns;
    // By the kernel's thread id, which a later thread may get again.
    let mut recorded: BTreeMap<u32, Vec<(u64, u32)>> = BTreeMap::new();
    for chunk in trace.chunks(Tolerance::Tolerant).flatten() {
        if chunk.kind == ChunkKind::Threads {
            for thread in entry::entries(chunk.payload).filter_map(ThreadEntry::decode) {
                let start = clock.ns(thread.start_ticks).max(from);
                let of_tid = recorded.entry(thread.tid).or_default();
                of_tid.push((start, thread.thread));
            }
        }
    }
    let mut times = Vec::new();
    let mut outside = Vec::new();
    for tid in on.threads() {
        let mut known = recorded.remove(&tid).unwrap_or_default();
        known.sort_unstable();
        // Until its first record it was known to no runtime.
        let first = known.first().map_or(to, |thread| thread.0.min(to));
        let before = on.ran(tid, from, first);
        if before >= MIN_NAMED_NS {
            outside.push((times.len(), tid, from, first));
        }
        let counts = (on.missing(tid), on.switches(tid));
        let entry = |thread, (ns, outside_ns), (missing, switches), cpus| CpuTime {
            thread,
            tid,
            ns,
            outside_ns,
            function: String::new(),
            missing,
            switches,
            cpus,
        };
        let cpus = |from, to| on.ran_by_cpu(tid, from, to).into_iter().collect();
        if known.is_empty() {
            times.push(entry(None, (before, before), counts, cpus(from, first)));
        }
        for (at, &(start, thread)) in known.iter().enumerate() {
            let end = known.get(at + 1).map_or(to, |next| next.0);
            let (before, counts) = if at == 0 {
                (before, counts)
            } else {
                (0, (0, 0))
            };
            let ran = on.ran(tid, start, end).saturating_add(before);
            let since = if at == 0 { from } else { start };
            times.push(entry(Some(thread), (ran, before), counts, cpus(since, end)));
        }
    }
    for (at, tid, from, to) in outside {
        let function = samples.mostly_in(tid, (from, to), mappings, workspace);
        times[at].function = function.unwrap_or_default();
    }
    times.retain(|time| time.ns > 0 || time.missing > 0);
    times
}
