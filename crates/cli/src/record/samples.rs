//! Samples of the recorded program's code: from what the kernel's watcher left beside the spool files to the trace's frames,
//! stacks and samples.

use std::collections::BTreeMap;
use std::io::{self, Seek, Write};
use std::time::Duration;

use workspan_perf::{Sample, Switches};
use workspan_symbols::{CodeFrame, Mapping, Workspace, stacks};
use workspan_trace::chunk::ChunkKind;
use workspan_trace::entry::{self, FrameEntry, Note, SamplesEntry, StackEntry, ThreadEntry};
use workspan_trace::reader::Tolerance;
use workspan_trace::window::Window;
use workspan_trace::{Trace, TraceWriter};

use super::clock::Clock;

/// Samples of one entry; a few kilobytes.
const BATCH: usize = 1024;

/// The samples of all processes of a run.
#[derive(Debug, Default)]
pub struct Samples {
    /// By the kernel's thread id, by time.
    by_tid: BTreeMap<u32, Vec<Sample>>,
    hertz: u32,
    /// What one was measured to take, where the rate was chosen by that.
    cost: Option<Duration>,
    /// Why there are none, although they were wanted.
    pub refused: Vec<String>,
}

impl Samples {
    /// Takes what a watcher saw.
    pub fn add(&mut self, told: Switches) {
        self.hertz = self.hertz.max(told.hertz);
        self.cost = self.cost.max(told.cost);
        for sample in told.samples {
            self.by_tid.entry(sample.tid).or_default().push(sample);
        }
    }

    /// The function, and its line where that is known, that most samples of a thread from one moment (in ns) to another lie in; the
    /// program's own code where there is any on their stacks.
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

    /// What the trace says about them beside the samples.
    pub fn notes(&self) -> Vec<Note> {
        let mut notes = Vec::new();
        if self.hertz > 0 {
            notes.push(Note::new("sample_hz", self.hertz.to_string()));
        }
        if let Some(cost) = self.cost {
            let us = cost.as_secs_f64() * 1e6;
            let share = f64::from(self.hertz) * cost.as_secs_f64() * 100.0;
            let told = format!(
                "{us:.1} us, so {} a second take {share:.1} % of the time",
                self.hertz
            );
            notes.push(Note::new("a sample takes", told));
        }
        let mut refused = self.refused.clone();
        refused.sort();
        refused.dedup();
        if !refused.is_empty() {
            notes.push(Note::new(
                "warning",
                format!(
                    "No samples of the code, so functions and lines inside strands are not known: {}.",
                    refused.join("; ")
                ),
            ));
        }
        notes
    }

    /// Writes those of a trace's threads, with the frames they name.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write<W: Write + Seek>(
        &self,
        trace: &Trace<'_>,
        window: Option<&Window>,
        mappings: &[Mapping],
        workspace: &Workspace,
        writer: &mut TraceWriter<W>,
    ) -> io::Result<()> {
        if self.by_tid.is_empty() {
            return Ok(());
        }
        let clock = Clock::of(trace);
        let (from, to) = window.map_or((0, u64::MAX), |w| (w.from.ticks, w.to.ticks));
        let mut chains: BTreeMap<&[u64], u32> = BTreeMap::new();
        let mut entries = Vec::new();
        for chunk in trace.chunks(Tolerance::Tolerant).flatten() {
            if chunk.kind != ChunkKind::Threads {
                continue;
            }
            for thread in entry::entries(chunk.payload).filter_map(ThreadEntry::decode) {
                let Some(samples) = self.by_tid.get(&thread.tid) else {
                    continue;
                };
                let told: Vec<(u64, u32)> = samples
                    .iter()
                    .map(|sample| (clock.ticks(sample.ns), sample))
                    .filter(|(ticks, _)| (thread.start_ticks..=clock.end).contains(ticks))
                    .filter(|(ticks, _)| (from..=to).contains(ticks))
                    .map(|(ticks, sample)| {
                        let next = chains.len() as u32;
                        (ticks, *chains.entry(&sample.addresses).or_insert(next))
                    })
                    .collect();
                entries.extend(told.chunks(BATCH).map(|batch| SamplesEntry {
                    thread: thread.thread,
                    samples: batch.to_vec(),
                }));
            }
        }
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
        writer.all_entries(ChunkKind::Samples, entries, SamplesEntry::encode)
    }
}
