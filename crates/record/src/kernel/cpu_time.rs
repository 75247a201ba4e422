//! The CPU time of the recorded process by the kernel's context switches, and what of it is of threads that the trace has no
//! records of.

use std::collections::BTreeMap;

use workspan_perf::{OffInterval, Switch};
use workspan_trace::Trace;
use workspan_trace::chunk::ChunkKind;
use workspan_trace::entry::{self, Note, ThreadEntry};
use workspan_trace::note_keys::{CPU_TIME, CPU_TIME_OF_OTHERS};
use workspan_trace::reader::Tolerance;

use crate::kernel::clock::Clock;

/// Threads on the CPU, by process, then the kernel's thread id.
#[derive(Debug, Default)]
pub struct CpuTime {
    threads: BTreeMap<u32, BTreeMap<u32, Seen>>,
}

/// First and last time that a thread was seen, in ns; the last one open where it was on a CPU then.
#[derive(Debug, Clone, Copy)]
struct Seen {
    first: u64,
    last: Option<u64>,
}

impl CpuTime {
    /// Takes the switches of process `pid`, by time.
    pub fn add(&mut self, pid: u32, switches: &[Switch]) {
        let threads = self.threads.entry(pid).or_default();
        for switch in switches {
            let seen = threads.entry(switch.tid).or_insert(Seen {
                // One that was on a CPU before it was watched: the thread that called exec.
                first: if switch.out { 0 } else { switch.ns },
                last: None,
            });
            seen.last = switch.out.then_some(switch.ns);
        }
    }

    /// The threads of process `pid`.
    pub fn threads_of(&self, pid: u32) -> impl Iterator<Item = u32> + '_ {
        let threads = self.threads.get(&pid);
        threads
            .into_iter()
            .flat_map(|threads| threads.keys().copied())
    }

    /// The notes of a whole trace; none where the end of the process is not known, or nobody watched it.
    pub fn notes(
        &self,
        trace: &Trace<'_>,
        clock: &Clock,
        off: &BTreeMap<u32, Vec<OffInterval>>,
    ) -> Vec<Note> {
        let Some(threads) = self.threads.get(&trace.header.pid) else {
            return Vec::new();
        };
        if clock.end == u64::MAX || clock.end <= trace.header.start_ticks {
            return Vec::new();
        }
        let mut recorded: BTreeMap<u32, u64> = BTreeMap::new();
        for chunk in trace.chunks(Tolerance::Tolerant).flatten() {
            if chunk.kind == ChunkKind::Threads {
                for thread in entry::entries(chunk.payload).filter_map(ThreadEntry::decode) {
                    let from = recorded.entry(thread.tid).or_insert(thread.start_ticks);
                    *from = (*from).min(thread.start_ticks);
                }
            }
        }
        let whole = (trace.header.start_ticks, clock.end);
        let (mut all, mut others, mut count) = (0, 0, 0u64);
        for (&tid, seen) in threads {
            let off = off.get(&tid).map_or(&[][..], Vec::as_slice);
            let on = |from: u64, to: u64| seen.on_cpu((from, to), clock, off);
            all += on(whole.0, whole.1);
            let until = recorded
                .get(&tid)
                .map_or(whole.1, |&from| from.min(whole.1));
            let other = on(whole.0, until);
            others += other;
            count += u64::from(other > 0 && !recorded.contains_key(&tid));
        }
        let rate = clock.length(1_000_000_000).max(1) as f64;
        let seconds = |ticks: u64| format!("{:.6} s", ticks as f64 / rate);
        let mut notes = vec![Note::new(CPU_TIME, seconds(all))];
        if others > 0 {
            let told = format!("{}, {count} threads", seconds(others));
            notes.push(Note::new(CPU_TIME_OF_OTHERS, told));
        }
        notes
    }
}

impl Seen {
    /// Ticks on a CPU within `from` to `to`.
    fn on_cpu(&self, (from, to): (u64, u64), clock: &Clock, off: &[OffInterval]) -> u64 {
        let from = from.max(clock.ticks(self.first));
        let to = to.min(self.last.map_or(u64::MAX, |ns| clock.ticks(ns)));
        let inside = |off: &OffInterval| {
            let (begin, end) = (clock.ticks(off.begin_ns), clock.ticks(off.end_ns));
            end.min(to).saturating_sub(begin.max(from))
        };
        let off: u64 = off.iter().map(inside).sum();
        to.saturating_sub(from).saturating_sub(off)
    }
}
