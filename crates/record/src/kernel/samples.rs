//! Samples of the recorded program's code: turns the kernel watcher's data in the spool directory
//! into the trace's frames, stacks and samples.

use std::collections::BTreeMap;
use std::io::{self, Seek, Write};
use std::time::Duration;

use workspan_perf::{OffCpuInterval, Sample, Switches};
use workspan_symbols::{CodeFrame, Interrupted, Mapping, Unwinder, Workspace, stacks};
use workspan_trace::chunk::ChunkKind;
use workspan_trace::entry::{
    self, FrameEntry, Note, OTHER_THREADS, RankCall, RankCallsEntry, SamplesEntry, StackEntry,
    StopsEntry, ThreadEntry, WaitEntry, WaitKind, WaitsEntry,
};
use workspan_trace::note_keys::{SAMPLE_HZ, SAMPLES_IN_KERNEL, STOPS, WARNING};
use workspan_trace::reader::Tolerance;
use workspan_trace::window::Window;
use workspan_trace::{Trace, TraceWriter};

use crate::kernel::clock::Clock;
use crate::kernel::off_cpu::OffCpu;
use crate::kernel::waits::{Wait, Waits};

/// The number of samples in an entry, which takes a few kilobytes.
const BATCH: usize = 1024;
/// The longest time between a stack and the record of its switch. A thread is rarely interrupted
/// between the two.
const MAX_STACK_AGE_NS: u64 = 200_000;

/// The samples of all processes of a run.
#[derive(Debug, Default)]
pub struct Samples {
    /// Samples by the kernel's thread id, in time order.
    by_tid: BTreeMap<u32, Vec<Sample>>,
    /// Stacks of threads that left a CPU, by the kernel's thread id, in time order.
    stops: BTreeMap<u32, Vec<Sample>>,
    hertz: u32,
    /// The measured cost of a sample, if the rate was chosen by it.
    cost: Option<Duration>,
    /// Reasons why there are no samples, although they were requested.
    pub refused: Vec<String>,
}

/// Puts `callers` behind the innermost address. The frame pointers led to the callers of the last
/// one of them, if that keeps frame pointers.
fn with_callers(addresses: &mut Vec<u64>, callers: Vec<u64>) {
    let Some(&last) = callers.last() else {
        return;
    };
    let outer = match addresses.iter().rposition(|&address| address == last) {
        Some(at) => at + 1,
        None => 1,
    };
    addresses.splice(1.min(addresses.len())..outer.min(addresses.len()), callers);
}

impl Samples {
    /// Adds a watcher's samples.
    pub fn add(&mut self, switches: Switches) {
        self.hertz = self.hertz.max(switches.hertz);
        self.cost = self.cost.max(switches.cost);
        for sample in switches.samples {
            self.by_tid.entry(sample.tid).or_default().push(sample);
        }
        for stop in switches.stops {
            self.stops.entry(stop.tid).or_default().push(stop);
        }
    }

    /// Adds the program's frames to the stacks of these threads' samples in system libraries.
    pub fn add_callers(&mut self, tids: impl Iterator<Item = u32>, mappings: &[Mapping]) {
        let mut unwinder = Unwinder::new(mappings);
        for tid in tids {
            let samples = self.by_tid.get_mut(&tid).into_iter().flatten();
            for sample in samples {
                let Some(stack) = sample.stack.take() else {
                    continue;
                };
                let callers = unwinder.callers(Interrupted {
                    ip: sample.addresses.first().copied().unwrap_or(0),
                    sp: stack.sp,
                    bp: stack.bp,
                    stack: &stack.words,
                });
                with_callers(&mut sample.addresses, callers);
            }
        }
    }

    fn of(&self, tid: u32) -> &[Sample] {
        self.by_tid.get(&tid).map_or(&[], Vec::as_slice)
    }

    /// The stack that the kernel took when the thread gave up the CPU. `last` is the time of the
    /// switch before; a stack from then or earlier does not belong to this one.
    fn stop(&self, off: &OffCpuInterval, last: Option<u64>) -> Option<&[u64]> {
        let stops = self.stops.get(&off.tid)?;
        // The kernel takes the stack just before it records the switch.
        let after = stops.partition_point(|stop| stop.ns <= off.begin_ns);
        let stop = &stops[after.checked_sub(1)?];
        let near = off.begin_ns - stop.ns <= MAX_STACK_AGE_NS
            && last.is_none_or(|last| stop.ns > last)
            && !stop.addresses.is_empty();
        near.then_some(stop.addresses.as_slice())
    }

    /// The times at which a thread gave up the CPU and more is known, in time order: those in a
    /// wait that the process logged, and others with a stack.
    fn blocked<'a>(
        &'a self,
        clock: &Clock,
        (tid, off): (u32, &'a [OffCpuInterval]),
        (inside, waits): (impl Fn(u64) -> bool, &'a Waits),
        chains: &mut BTreeMap<&'a [u64], u32>,
    ) -> (Vec<WaitEntry>, Vec<(u64, u32, u64)>) {
        let (mut waited, mut stopped, mut used) = (Vec::new(), Vec::new(), Vec::new());
        let mut begun = None;
        for off in off {
            let last = begun.replace(off.begin_ns);
            if off.preempted {
                continue;
            }
            let begin = clock.ticks(off.begin_ns);
            let end = clock.ticks(off.end_ns).min(clock.end);
            if !inside(begin) || begin >= end {
                continue;
            }
            let (wait, stop) = (waits.during(tid, (begin, end)), self.stop(off, last));
            if let Some(wait) = wait {
                used.push(wait.begin);
                let chain = Some(waits.chain(wait)).filter(|chain| !chain.is_empty());
                let Some(chain) = chain.or(stop) else {
                    continue;
                };
                waited.push(wait_entry(
                    (begin, end - begin),
                    number(chains, chain),
                    (wait, waits),
                    chains,
                ));
            } else if let Some(stop) = stop {
                stopped.push((begin, number(chains, stop), end - begin));
            }
        }
        // Waits for a lock that an adapter reported count as blocked even if the thread was
        // spinning.
        for wait in waits.of_thread(tid) {
            let is_spun = wait.kind == WaitKind::Mutex && used.binary_search(&wait.begin).is_err();
            let chain = waits.chain(wait);
            if is_spun && inside(wait.begin) && !chain.is_empty() {
                waited.push(wait_entry(
                    (
                        wait.begin,
                        wait.end.min(clock.end).saturating_sub(wait.begin),
                    ),
                    number(chains, chain),
                    (wait, waits),
                    chains,
                ));
            }
        }
        waited.sort_unstable();
        (waited, stopped)
    }

    /// The function, with its line if known, in which most samples of a thread between two moments
    /// (in ns) are; the program's own code if there is any on their stacks.
    pub fn mostly_in(
        &self,
        tid: u32,
        (from, to): (u64, u64),
        mappings: &[Mapping],
        workspace: &Workspace,
    ) -> Option<String> {
        let samples = self.by_tid.get(&tid)?.iter();
        let chains: Vec<Vec<u64>> = samples
            .filter(|sample| (from..to).contains(&sample.ns))
            .take(BATCH)
            .map(|sample| sample.addresses.clone())
            .collect();
        let mut count: BTreeMap<String, u32> = BTreeMap::new();
        for stack in stacks(&chains, mappings, workspace) {
            let own = stack.iter().find(|frame| !frame.runtime);
            if let Some(frame) = own.or(stack.first()) {
                let place = match (&frame.file, frame.line) {
                    (Some(file), Some(line)) => format!("{} ({file}:{line})", frame.function),
                    _ => frame.function.clone(),
                };
                *count.entry(place).or_default() += 1;
            }
        }
        let most = count.into_iter().max_by_key(|(_, samples)| *samples)?;
        Some(most.0)
    }

    /// The notes about samples in the trace.
    pub fn notes(&self) -> Vec<Note> {
        let mut notes = Vec::new();
        if self.hertz > 0 {
            notes.push(Note::new(SAMPLE_HZ, self.hertz.to_string()));
        }
        if let Some(cost) = self.cost {
            let us = cost.as_secs_f64() * 1e6;
            let share = f64::from(self.hertz) * cost.as_secs_f64() * 100.0;
            let text = format!(
                "{us:.1} us, so {} a second take {share:.1} % of the time",
                self.hertz
            );
            notes.push(Note::new("a sample takes", text));
        }
        if self.hertz > 0 {
            let text = match self.stops.is_empty() {
                false => "taken where they left a CPU".to_owned(),
                true => "none; they need kernel.perf_event_paranoid of 1 or less, or CAP_PERFMON"
                    .to_owned(),
            };
            notes.push(Note::new(STOPS, text));
            let kernel = match workspan_perf::kernel_is_sampled() {
                true => "yes",
                false => "no; that needs kernel.perf_event_paranoid of 1 or less, or CAP_PERFMON",
            };
            notes.push(Note::new(SAMPLES_IN_KERNEL, kernel));
        }
        let mut refused = self.refused.clone();
        refused.sort();
        refused.dedup();
        if !refused.is_empty() {
            notes.push(Note::new(
                WARNING,
                format!(
                    "Functions and lines inside strands are not known, because there are no samples of the code: {}.",
                    refused.join("; ")
                ),
            ));
        }
        notes
    }

    /// Writes the samples of the trace's process, the places where its threads gave up the CPU, and
    /// the frames of both.
    ///
    /// # Errors
    /// The writer's errors.
    pub fn write<W: Write + Seek>(
        &self,
        trace: &Trace<'_>,
        window: Option<&Window>,
        (mappings, workspace): (&[Mapping], &Workspace),
        (off_cpu, waits): (&OffCpu, &Waits),
        writer: &mut TraceWriter<W>,
    ) -> io::Result<()> {
        if self.by_tid.is_empty() && self.stops.is_empty() && waits.is_empty() {
            return Ok(());
        }
        let clock = Clock::from_trace(trace);
        let (from, to) = window.map_or((0, u64::MAX), |w| (w.from.ticks, w.to.ticks));
        let mut chains: BTreeMap<&[u64], u32> = BTreeMap::new();
        let mut entries = Vec::new();
        let mut stops = Vec::new();
        let mut all_waits = Vec::new();
        let mut rank_calls = Vec::new();
        // The times at which each thread's records begin.
        let mut begun: BTreeMap<u32, u64> = BTreeMap::new();
        for chunk in trace.chunks(Tolerance::Tolerant).flatten() {
            if chunk.kind != ChunkKind::Threads {
                continue;
            }
            for thread in entry::entries(chunk.payload).filter_map(ThreadEntry::decode) {
                let first = begun.entry(thread.tid).or_insert(thread.start_ticks);
                *first = (*first).min(thread.start_ticks);
                let inside = |ticks: u64| {
                    (thread.start_ticks..=clock.end).contains(&ticks)
                        && (from..=to).contains(&ticks)
                };
                let samples = numbered(&clock, self.of(thread.tid), inside, &mut chains);
                entries.extend(samples.chunks(BATCH).map(|batch| SamplesEntry {
                    thread: thread.thread,
                    samples: batch.to_vec(),
                }));
                let off = (thread.tid, off_cpu.of_thread(thread.tid));
                let (waited, stopped) = self.blocked(&clock, off, (inside, waits), &mut chains);
                stops.extend(stopped.chunks(BATCH).map(|batch| StopsEntry {
                    thread: thread.thread,
                    stops: batch.to_vec(),
                }));
                all_waits.extend(waited.chunks(BATCH).map(|batch| WaitsEntry {
                    thread: thread.thread,
                    waits: batch.to_vec(),
                }));
                let calls: Vec<RankCall> = waits
                    .rank_calls(thread.tid)
                    .filter(|(call, _)| inside(call.begin))
                    .map(|(call, chain)| RankCall {
                        stack: (!chain.is_empty()).then(|| number(&mut chains, chain)),
                        ..call
                    })
                    .collect();
                rank_calls.extend(calls.chunks(BATCH).map(|batch| RankCallsEntry {
                    thread: thread.thread,
                    calls: batch.to_vec(),
                }));
            }
        }
        let mut others: Vec<(u64, u32)> = Vec::new();
        for tid in off_cpu.threads_of(trace.header.pid) {
            let until = begun.get(&tid).copied().unwrap_or(u64::MAX).min(clock.end);
            let inside = |ticks: u64| {
                (trace.header.start_ticks..until).contains(&ticks) && (from..=to).contains(&ticks)
            };
            others.extend(numbered(&clock, self.of(tid), inside, &mut chains));
        }
        others.sort_unstable();
        entries.extend(others.chunks(BATCH).map(|batch| SamplesEntry {
            thread: OTHER_THREADS,
            samples: batch.to_vec(),
        }));
        let mut by_number: Vec<(u32, Vec<u64>)> = chains
            .into_iter()
            .map(|(chain, number)| (number, chain.to_vec()))
            .collect();
        by_number.sort_unstable();
        let chains: Vec<Vec<u64>> = by_number.into_iter().map(|(_, chain)| chain).collect();
        let mut frames: BTreeMap<CodeFrame, u32> = BTreeMap::new();
        let resolved: Vec<StackEntry> = (0..)
            .zip(stacks(&chains, mappings, workspace))
            .map(|(id, stack)| StackEntry {
                id,
                frames: stack
                    .into_iter()
                    .map(|frame| {
                        let next = frames.len() as u32;
                        *frames.entry(frame).or_insert(next)
                    })
                    .collect(),
            })
            .collect();
        let mut frames: Vec<FrameEntry> = frames
            .into_iter()
            .map(|(frame, id)| FrameEntry {
                id,
                function: frame.function,
                file: frame.file,
                line: frame.line,
                runtime: frame.runtime,
            })
            .collect();
        frames.sort_unstable_by_key(|frame| frame.id);
        writer.all_entries(ChunkKind::Frames, frames, FrameEntry::encode)?;
        writer.all_entries(ChunkKind::Stacks, resolved, StackEntry::encode)?;
        writer.all_entries(ChunkKind::Samples, entries, SamplesEntry::encode)?;
        writer.all_entries(ChunkKind::Stops, stops, StopsEntry::encode)?;
        writer.all_entries(ChunkKind::Waits, all_waits, WaitsEntry::encode)?;
        writer.all_entries(ChunkKind::RankCalls, rank_calls, RankCallsEntry::encode)
    }
}

/// An entry for a wait in which its thread was off the CPU for this time.
fn wait_entry<'a>(
    (begin, ticks): (u64, u64),
    stack: u32,
    (wait, waits): (&Wait, &'a Waits),
    chains: &mut BTreeMap<&'a [u64], u32>,
) -> WaitEntry {
    let released_at = Some(waits.released_at(wait)).filter(|chain| !chain.is_empty());
    WaitEntry {
        begin,
        stack,
        ticks,
        kind: wait.kind,
        object: wait.object,
        by: waits.ended_by(wait),
        released_at: released_at.map(|chain| number(chains, chain)),
        // A wait may span several off-CPU times: after a wake-up, its thread found the object taken
        // again.
        held: wait.released.saturating_sub(begin).min(ticks + 1),
    }
}

/// The number of a chain, which is a new one if the chain is new.
fn number<'a>(chains: &mut BTreeMap<&'a [u64], u32>, chain: &'a [u64]) -> u32 {
    let next = chains.len() as u32;
    *chains.entry(chain).or_insert(next)
}

/// The time and the stack's number of all samples whose time is `inside`.
fn numbered<'a>(
    clock: &Clock,
    samples: &'a [Sample],
    inside: impl Fn(u64) -> bool,
    chains: &mut BTreeMap<&'a [u64], u32>,
) -> Vec<(u64, u32)> {
    samples
        .iter()
        .map(|sample| (clock.ticks(sample.ns), sample))
        .filter(|&(ticks, _)| inside(ticks))
        .map(|(ticks, sample)| (ticks, number(chains, &sample.addresses)))
        .collect()
}
