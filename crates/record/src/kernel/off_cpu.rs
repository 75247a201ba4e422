//! The off-CPU times of recorded threads (MODEL.md §2): turns the kernel watcher's files in the
//! spool directory into records of the trace.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use workspan_perf::{
    OffCpuInterval, OnCpuTimes, Scope, Switch, Switches, UNWATCHED, WATCHED, off_cpu_intervals,
    on_cpu_times, read_switches, thread_ends,
};
use workspan_recorder::WATCH_REQUESTS;
use workspan_symbols::Mapping;
use workspan_trace::Trace;
use workspan_trace::chunk::ChunkKind;
use workspan_trace::entry::{self, Note, ThreadEntry};
use workspan_trace::event::Events;
use workspan_trace::note_keys::WARNING;
use workspan_trace::off_cpu::push_off;
use workspan_trace::reader::Tolerance;
use workspan_trace::window::Window;

use crate::kernel::clock::Clock;
use crate::kernel::cpu_clock::unseen_off_times;
use crate::kernel::samples::Samples;
use crate::kernel::waits::Waits;
use crate::kernel::yields::{MergeLimits, OffCpuTicks};
use crate::launch::environment::{self, NO_PERF};
use crate::options::settings::Sampling;

/// Extension of a watcher's file in the spool directory.
const SWITCHES: &str = "switches";
/// Extension of the file with the reason why a program's code is not sampled.
const UNSAMPLED: &str = "unsampled";
/// A new thread that waited for its CPU for less time counts as started at once.
const MIN_WAITED_NS: u64 = 20_000;
/// From this length on, the time from the end of a wait to the thread's return onto a CPU is a wait
/// for a CPU. A thread that finds a free one is back sooner, even on a virtual machine.
const MIN_CPU_WAIT_NS: u64 = 200_000;
/// The longest wait for a watcher. It sees the program's end at once, so only a stopped or
/// overloaded one takes this long.
const WATCHER_TIMEOUT: Duration = Duration::from_secs(5);

/// Makes the kernel's context switches of this process be written to the spool directory, from its
/// next exec on. If the kernel refuses or the user does not want it, writes the reason there
/// instead and returns false. Must be called with one thread, last before the exec.
pub fn watch(spool: &Path) -> bool {
    let file = |extension: &str| spool.join(format!("{}.{extension}", std::process::id()));
    let unwanted = std::env::var_os(NO_PERF).is_some_and(|value| !value.is_empty());
    let refused = if unwanted {
        "--no-perf (or WORKSPAN_NO_PERF) was given".to_owned()
    } else {
        let scope = match environment::follows() {
            true => Scope::Descendants,
            false => Scope::Process,
        };
        let rate = Sampling::rate_from_environment();
        let requests = spool.join(WATCH_REQUESTS);
        let requests = (scope == Scope::Descendants).then_some(requests.as_path());
        match workspan_perf::watch_from_exec(&file(SWITCHES), rate, scope, requests) {
            Ok(unsampled) => {
                if let Some(refused) = unsampled {
                    // Without the file, the trace only contains less information.
                    let _ = std::fs::write(file(UNSAMPLED), refused.to_string());
                }
                return true;
            }
            Err(refused) => refused.to_string(),
        }
    };
    // Without the file, the trace only contains less information.
    let _ = std::fs::write(file(UNWATCHED), refused);
    false
}

/// The off-CPU times and samples of all processes of a run.
#[derive(Debug, Default)]
pub struct OffCpu {
    /// Off-CPU times by the kernel's thread id, in time order.
    intervals: BTreeMap<u32, Vec<OffCpuInterval>>,
    /// When threads ended, in nanoseconds, by the kernel's thread id, in time order.
    ends: BTreeMap<u32, Vec<u64>>,
    /// The times at which threads ran, by the kernel's process id.
    on: BTreeMap<u32, OnCpuTimes>,
    /// Reasons why data is missing.
    missing: Vec<String>,
    watched: bool,
    /// The samples of the same watchers.
    pub samples: Samples,
}

impl OffCpu {
    /// Nothing, for a process on a host that the kernel's watch of the run does not reach.
    pub fn outside_watch(host: &str) -> Self {
        Self {
            missing: vec![format!(
                "the process ran on {host}, and the kernel watches only what runs on the host of `workspan record`"
            )],
            ..Self::default()
        }
    }

    /// Reads the files in the spool directory, and removes them.
    pub fn take(spool: &Path) -> Self {
        let mut all = Self::default();
        let files =
            std::fs::read_dir(spool).map(|entries| entries.flatten().map(|e| e.path()).collect());
        let mut files: Vec<PathBuf> = files.unwrap_or_default();
        files.sort();
        for file in files {
            match file.extension().and_then(|extension| extension.to_str()) {
                Some(SWITCHES) => match read_switches(&file, WATCHER_TIMEOUT) {
                    Ok(switches) => {
                        all.watched = true;
                        if switches.lost > 0 {
                            all.missing.push(format!(
                                "{} context switches did not fit into the kernel's buffer",
                                switches.lost
                            ));
                        }
                        let process = file
                            .file_stem()
                            .and_then(|stem| stem.to_str()?.parse().ok());
                        if let Some(process) = process {
                            all.on.extend(on_cpu_times_of_each(&switches, process));
                        }
                        for interval in off_cpu_intervals(&switches.switches) {
                            all.intervals
                                .entry(interval.tid)
                                .or_default()
                                .push(interval);
                        }
                        for (tid, ends) in thread_ends(&switches.switches) {
                            all.ends.entry(tid).or_default().extend(ends);
                        }
                        all.samples.add(switches);
                    }
                    Err(error) => all
                        .missing
                        .push(format!("the context switches can't be read: {error}")),
                },
                Some(UNSAMPLED) => all.samples.refused.extend(std::fs::read_to_string(&file)),
                Some(UNWATCHED) => all.missing.extend(std::fs::read_to_string(&file)),
                // An answer that came too late, or the pipe.
                Some(WATCHED) => {}
                _ if file.ends_with(WATCH_REQUESTS) => {}
                _ => continue,
            }
            // A file that cannot be removed only keeps the spool directory.
            let _ = std::fs::remove_file(&file);
        }
        all.missing.sort();
        all.missing.dedup();
        all
    }

    /// Adds the lost times that the CPU clocks of the trace's threads show in addition to their
    /// switches. Returns their sum over all threads, in nanoseconds.
    pub fn add_unseen(&mut self, trace: &Trace<'_>, clock: &Clock) -> u64 {
        let Some(on) = self.on.get_mut(&trace.header.pid) else {
            return 0;
        };
        let mut all = 0;
        for (tid, times) in unseen_off_times(trace, clock, &self.intervals) {
            all += times.iter().map(|t| t.end_ns - t.begin_ns).sum::<u64>();
            on.take_out(tid, &times);
            let intervals = self.intervals.entry(tid).or_default();
            intervals.extend(times);
            intervals.sort_unstable();
        }
        all
    }

    /// Adds the waits that a process logged, if its switches were not watched.
    pub fn add_waits(&mut self, process: u32, waits: impl Iterator<Item = OffCpuInterval>) {
        if self.on.contains_key(&process) {
            return;
        }
        for wait in waits {
            self.intervals.entry(wait.tid).or_default().push(wait);
        }
    }

    /// Adds the program's frames to a process's samples in system libraries.
    pub fn add_callers(&mut self, process: u32, mappings: &[Mapping]) {
        let threads: Vec<u32> = self.threads_of(process).collect();
        self.samples.add_callers(threads.into_iter(), mappings);
    }

    /// Divides the times in which a thread waited for another one at the moment at which that
    /// one let it go on. If it came back onto a CPU much later, it waited for a CPU from then on,
    /// which is not the fault of what it had waited for.
    pub fn split_at_releases(&mut self, waits: &Waits, clock: &Clock) {
        for (&tid, intervals) in &mut self.intervals {
            if waits.of_thread(tid).is_empty() {
                continue;
            }
            let mut waited_for_cpu = Vec::new();
            for off in intervals.iter_mut().filter(|off| !off.preempted) {
                let (begin, end) = (clock.ticks(off.begin_ns), clock.ticks(off.end_ns));
                let wait = waits.during(tid, (begin, end));
                let Some(released) = wait.and_then(|wait| waits.released_by_another(wait)) else {
                    continue;
                };
                let mut released_ns = clock.ns(released);
                // The blocked part must not end before the release, whatever is rounded.
                released_ns += u64::from(clock.ticks(released_ns) < released);
                let is_inside = begin < released && clock.ticks(released_ns) >= released;
                if is_inside && off.end_ns.saturating_sub(released_ns) >= MIN_CPU_WAIT_NS {
                    waited_for_cpu.push(OffCpuInterval {
                        begin_ns: released_ns,
                        preempted: true,
                        ..*off
                    });
                    off.end_ns = released_ns;
                }
            }
            if !waited_for_cpu.is_empty() {
                intervals.append(&mut waited_for_cpu);
                intervals.sort_unstable();
            }
        }
    }

    /// The notes about off-CPU times for `workspan info`. `estimated` is true if the trace has the
    /// threads' own statistics.
    pub fn notes(&self, estimated: bool) -> Vec<Note> {
        let mut notes = Vec::new();
        if self.watched {
            notes.push(Note::new(
                "off-CPU times",
                "from the kernel's context switches",
            ));
        }
        let what = match (self.watched, estimated) {
            (true, _) => "not complete",
            (false, true) => {
                "estimates: sums per chunk of records from schedstat, spread over its strands, because context switches were not \
                recorded"
            }
            (false, false) => "not known; they count as work",
        };
        if !self.missing.is_empty() {
            notes.push(Note::new(
                WARNING,
                format!("Off-CPU times are {what}: {}.", self.missing.join("; ")),
            ));
        }
        notes
    }

    /// The times at which the threads of a process ran; `None` if they were not watched.
    pub fn on_cpu_times(&self, process: u32) -> Option<&OnCpuTimes> {
        self.on.get(&process)
    }

    /// The CPU time of a process, in nanoseconds; 0 if it was not watched.
    pub fn cpu_ns(&self, process: u32) -> u64 {
        self.on_cpu_times(process).map_or(0, OnCpuTimes::total)
    }

    /// The processes that were watched, with their CPU time in nanoseconds.
    pub fn cpu_ns_by_process(&self) -> BTreeMap<u32, u64> {
        let all = self.on.iter();
        all.map(|(&process, times)| (process, times.total()))
            .collect()
    }

    /// A sentence with the reason why the off-CPU times of the trace's threads are incomplete, if
    /// they are.
    pub fn unwatched_threads(&self, trace: &Trace<'_>) -> Option<String> {
        let on = self.on_cpu_times(trace.header.pid)?;
        let threads = Threads::from_trace(trace);
        let recorded = threads.entries.iter();
        let recorded = recorded.filter(|thread| threads.next_seq.contains_key(&thread.thread));
        let (all, unseen) = recorded.fold((0u32, 0u32), |(all, unseen), thread| {
            let seen = on.threads().any(|tid| tid == thread.tid);
            (all + 1, unseen + u32::from(!seen))
        });
        (unseen > 0).then(|| {
            format!(
                "Off-CPU times are incomplete: the kernel reported no context switch for {unseen} of the {all} recorded threads, \
                so all of their time counts as work."
            )
        })
    }

    /// The off-CPU times of the thread with this id, in time order.
    pub fn of_thread(&self, tid: u32) -> &[OffCpuInterval] {
        self.intervals.get(&tid).map_or(&[], Vec::as_slice)
    }

    /// The threads of process `pid`.
    pub fn threads_of(&self, pid: u32) -> impl Iterator<Item = u32> + '_ {
        self.on.get(&pid).into_iter().flat_map(OnCpuTimes::threads)
    }

    /// The tick at which a thread of the trace ended; `None` if that is not known.
    fn end_of(&self, thread: &ThreadEntry, clock: &Clock) -> Option<u64> {
        let ends = self.ends.get(&thread.tid)?.iter();
        let mut ends = ends.map(|&ns| clock.ticks(ns));
        ends.find(|&end| end > thread.start_ticks)
    }

    /// One more chunk for each of the trace's threads: thread, seq, base time in ticks, records.
    /// With a window, only the part inside of it.
    pub fn chunks(&self, trace: &Trace<'_>, window: Option<&Window>) -> Vec<OffCpuChunk> {
        let threads = Threads::from_trace(trace);
        let (from, to) = window.map_or((0, u64::MAX), |w| (w.from.ticks, w.to.ticks));
        let mut chunks = Vec::new();
        for thread in &threads.entries {
            let Some(&seq) = threads.next_seq.get(&thread.thread) else {
                continue;
            };
            let intervals = self.of_thread(thread.tid);
            let mut payload = Vec::new();
            // The time that a new thread waited for its CPU before its first record.
            let waited = threads.clock.length(thread.waited_ns);
            let base = thread.start_ticks.saturating_sub(waited).max(from);
            let mut offs = Vec::new();
            let mut last = thread.start_ticks.max(from);
            if thread.waited_ns >= MIN_WAITED_NS && base < last {
                offs.push(OffCpuTicks {
                    begin: base,
                    end: last,
                    blocked: false,
                });
            }
            let ended = self.end_of(thread, &threads.clock);
            for interval in intervals {
                let begin = threads.clock.ticks(interval.begin_ns).max(last);
                let end = threads.clock.ticks(interval.end_ns).min(threads.clock.end);
                let end = end.min(to).min(ended.unwrap_or(u64::MAX));
                // It belongs to another thread with the same id, before or after this one; or it is
                // outside of the recorded time.
                if begin >= end || end <= last {
                    continue;
                }
                offs.push(OffCpuTicks {
                    begin,
                    end,
                    blocked: !interval.preempted,
                });
                last = end;
            }
            // A thread that has ended runs nothing, and does not search for tasks either.
            let run_end = threads.clock.end.min(to);
            if let Some(begin) = ended.map(|ended| ended.max(last))
                && threads.clock.end != u64::MAX
                && begin < run_end
            {
                offs.push(OffCpuTicks {
                    begin,
                    end: run_end,
                    blocked: true,
                });
            }
            let elapsed = threads.clock.end.min(to).saturating_sub(base);
            let close = MergeLimits::new(|ns| threads.clock.length(ns), elapsed);
            if close.are_many(&offs) {
                offs = close.merged(&offs, record_times(trace, thread.thread));
            }
            let mut last = base;
            for off in offs {
                push_off(
                    &mut payload,
                    off.end - last,
                    off.end - off.begin,
                    off.blocked,
                );
                last = off.end;
            }
            if !payload.is_empty() {
                chunks.push(OffCpuChunk {
                    thread: thread.thread,
                    seq,
                    base,
                    payload,
                });
            }
        }
        chunks
    }
}

/// Off-CPU records of one thread.
pub struct OffCpuChunk {
    /// The thread's number in the trace.
    pub thread: u32,
    /// The chunk's number; it follows the thread's other chunks.
    pub seq: u32,
    /// The time from which the first record's ticks count.
    pub base: u64,
    /// Off-CPU records.
    pub payload: Vec<u8>,
}

/// The trace's data about its threads.
struct Threads {
    entries: Vec<ThreadEntry>,
    next_seq: BTreeMap<u32, u32>,
    clock: Clock,
}

impl Threads {
    fn from_trace(trace: &Trace<'_>) -> Self {
        let mut threads = Self {
            entries: Vec::new(),
            next_seq: BTreeMap::new(),
            clock: Clock::from_trace(trace),
        };
        for chunk in trace.chunks(Tolerance::Tolerant).flatten() {
            match chunk.kind {
                ChunkKind::Events => {
                    let next = threads.next_seq.entry(chunk.thread).or_default();
                    *next = (*next).max(chunk.seq.saturating_add(1));
                }
                ChunkKind::Threads => {
                    threads
                        .entries
                        .extend(entry::entries(chunk.payload).filter_map(ThreadEntry::decode));
                }
                _ => {}
            }
        }
        threads
    }
}

/// The times of the records of the thread with this number, ascending.
fn record_times<'a>(trace: &Trace<'a>, thread: u32) -> impl Iterator<Item = u64> + use<'a> {
    let chunks = trace.chunks(Tolerance::Tolerant).flatten();
    let own = chunks.filter(|chunk| chunk.kind == ChunkKind::Events && chunk.thread == thread);
    let mut own: Vec<_> = own.collect();
    own.sort_by_key(|chunk| chunk.seq);
    own.into_iter().flat_map(|chunk| {
        let events = Events::new(chunk.payload, chunk.base_ticks);
        events.map(|(t, _)| t).collect::<Vec<u64>>()
    })
}

/// The times at which threads ran, for the watched process and those that it started.
fn on_cpu_times_of_each(record: &Switches, watched: u32) -> BTreeMap<u32, OnCpuTimes> {
    let mut of_each: BTreeMap<u32, Vec<Switch>> = BTreeMap::from([(watched, Vec::new())]);
    for switch in &record.switches {
        let process = record.processes.get(&switch.tid).copied();
        let list = of_each.entry(process.unwrap_or(watched)).or_default();
        list.push(*switch);
    }
    let of_each = of_each.into_iter();
    of_each
        .map(|(process, switches)| (process, on_cpu_times(&switches, process)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::waits::tests::held;
    use workspan_trace::entry::ClockPair;

    #[test]
    fn a_thread_that_may_go_on_waits_for_a_cpu() {
        // Ticks of 0.3 ns, so that most releases lie between two nanoseconds.
        let pair = |ticks, ns| ClockPair { ticks, ns };
        let clock = Clock::between(pair(0, 0), pair(10_000_000, 3_000_000));
        let off = |begin_ns, end_ns, preempted| OffCpuInterval {
            tid: 5,
            begin_ns,
            end_ns,
            preempted,
        };
        let split = |held_for: u64| {
            let mut off_cpu = OffCpu::default();
            off_cpu.intervals.insert(5, vec![off(1000, 900_000, false)]);
            let begin = clock.ticks(990);
            let waits = held(&[(begin, clock.ticks(901_000), held_for)]);
            off_cpu.split_at_releases(&waits, &clock);
            off_cpu.intervals.remove(&5).unwrap()
        };
        let parts = split(1_000_001);
        let released = clock.ticks(990) + 1_000_001;
        let [blocked, waits] = parts[..] else {
            panic!("{parts:?}")
        };
        assert_eq!((blocked.preempted, waits.preempted), (false, true));
        assert_eq!((blocked.begin_ns, waits.end_ns), (1000, 900_000));
        assert_eq!(blocked.end_ns, waits.begin_ns);
        // The wait's end is never before the release, or its thread would seem to wait on.
        assert!(clock.ticks(blocked.end_ns) >= released);
        assert!(clock.ticks(blocked.end_ns) < released + 4);
        // It was back at once, or the object was released before it gave up the CPU.
        assert_eq!(split(2_900_000).len(), 1);
        assert_eq!(split(5).len(), 1);
    }
}
