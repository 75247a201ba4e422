//! Finds times in which a thread held a CPU according to its context switches, but did not run
//! according to its CPU clock.
//!
//! The recorder reads each thread's CPU clock at the ends of long strands and of chunks
//! ([`CpuReading`]). Between two readings the thread was on a CPU, by its switches, for some time;
//! its clock may have advanced by less. Then the host of a virtual machine had the CPU meanwhile,
//! or the record of a switch is missing. Either way the thread did not run, and the difference
//! becomes a time off the CPU.
//!
//! Where the lost time was between the readings is not known. It is placed at the end of the
//! longest time on the CPU: time taken by the host often ends with a switch, because the time slice
//! is over by then.

use std::collections::BTreeMap;

use workspan_perf::OffCpuInterval;
use workspan_trace::Trace;
use workspan_trace::chunk::ChunkKind;
use workspan_trace::entry::{self, CpuReading, ThreadEntry};
use workspan_trace::reader::Tolerance;

use crate::kernel::clock::Clock;

/// A smaller difference can result from reading switches and clocks at slightly different moments.
const MIN_LOST_NS: u64 = 20_000;

/// Times in which threads did not run although no switch says so, by the kernel's thread id and
/// time. `off` are the off-CPU times from their switches.
pub fn unseen_off_times(
    trace: &Trace<'_>,
    clock: &Clock,
    off: &BTreeMap<u32, Vec<OffCpuInterval>>,
) -> BTreeMap<u32, Vec<OffCpuInterval>> {
    let mut tids: BTreeMap<u32, u32> = BTreeMap::new();
    let mut readings: Vec<CpuReading> = Vec::new();
    for chunk in trace.chunks(Tolerance::Tolerant).flatten() {
        let bodies = entry::entries(chunk.payload);
        match chunk.kind {
            ChunkKind::Threads => {
                let threads = bodies.filter_map(ThreadEntry::decode);
                tids.extend(threads.map(|thread| (thread.thread, thread.tid)));
            }
            ChunkKind::CpuReadings => readings.extend(bodies.filter_map(CpuReading::decode)),
            _ => {}
        }
    }
    let mut unseen: BTreeMap<u32, Vec<OffCpuInterval>> = BTreeMap::new();
    for reading in readings {
        let Some(&tid) = tids.get(&reading.thread) else {
            continue;
        };
        let window = (clock.ns(reading.from), clock.ns(reading.to));
        let off = off.get(&tid).map_or(&[][..], Vec::as_slice);
        let on = on_cpu_times(window, off);
        let on_cpu_ns: u64 = on.iter().map(|(begin, end)| end - begin).sum();
        let lost = on_cpu_ns.saturating_sub(reading.ran_ns);
        if lost >= MIN_LOST_NS {
            let of_thread = unseen.entry(tid).or_default();
            of_thread.extend(placed(on, lost).map(|(begin_ns, end_ns)| OffCpuInterval {
                tid,
                begin_ns,
                end_ns,
                preempted: true,
            }));
        }
    }
    for times in unseen.values_mut() {
        times.sort_unstable();
    }
    unseen
}

/// The parts of a window, from one moment in ns to another, that are in no off-CPU time. `off` is
/// ordered by time.
fn on_cpu_times((from, to): (u64, u64), off: &[OffCpuInterval]) -> Vec<(u64, u64)> {
    let mut on = Vec::new();
    let mut last = from;
    let first = off.partition_point(|off| off.end_ns <= from);
    for off in off[first..].iter().take_while(|off| off.begin_ns < to) {
        if off.begin_ns > last {
            on.push((last, off.begin_ns));
        }
        last = last.max(off.end_ns);
    }
    if last < to {
        on.push((last, to));
    }
    on
}

/// Places `lost` nanoseconds at the ends of the longest of these times.
fn placed(mut on: Vec<(u64, u64)>, mut lost: u64) -> impl Iterator<Item = (u64, u64)> {
    on.sort_unstable_by_key(|(begin, end)| begin.abs_diff(*end));
    std::iter::from_fn(move || {
        let (begin, end) = on.pop().filter(|_| lost > 0)?;
        let length = lost.min(end - begin);
        lost -= length;
        Some((end - length, end))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn off(begin_ns: u64, end_ns: u64) -> OffCpuInterval {
        OffCpuInterval {
            tid: 1,
            begin_ns,
            end_ns,
            preempted: true,
        }
    }

    #[test]
    fn what_is_lost_lies_in_the_longest_times_on_the_cpu() {
        let on = on_cpu_times((100, 1000), &[off(0, 50), off(90, 120), off(300, 700)]);
        assert_eq!(on, [(120, 300), (700, 1000)]);
        let all = |lost| placed(on.clone(), lost).collect::<Vec<_>>();
        assert_eq!(all(0), []);
        assert_eq!(all(100), [(900, 1000)]);
        assert_eq!(all(350), [(700, 1000), (250, 300)]);
        // More than the time on the CPU: all of it.
        assert_eq!(all(10_000), [(700, 1000), (120, 300)]);
        assert_eq!(on_cpu_times((10, 20), &[off(0, 50)]), []);
    }
}
