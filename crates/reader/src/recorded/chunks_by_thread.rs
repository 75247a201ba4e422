//! The chunks of a file, by kind and thread.

use std::collections::BTreeMap;

use workspan_trace::chunk::CHUNK_HEADER_SIZE;
use workspan_trace::entry::{
    ClockPair, CpuTime, Finished, FrameEntry, Label, Note, OffCpu, PlaceEntry, RankCallsEntry,
    SamplesEntry, Site, StackEntry, StopsEntry, ThreadEntry, ThreadName, WaitsEntry, entries,
};
use workspan_trace::event::{Event, Events};
use workspan_trace::off_cpu::is_off_cpu;
use workspan_trace::reader::Chunks;
use workspan_trace::{ChunkKind, FileHeader, Tolerance, Trace};

use super::process_end::cut_at_process_end;
use super::skipped::as_one_record::is_requested;
use crate::open::{OpenOptions, TraceBytes};
use crate::released_pages::ReleasingPass;
use workspan_dag::Error;
use workspan_dag::meta::ReadFolding;

/// The contents of a file.
#[derive(Debug, Default)]
pub(super) struct TraceChunks<'a> {
    pub header: FileHeader,
    /// Threads in order of number.
    pub threads: Vec<Thread<'a>>,
    pub sites: BTreeMap<u32, Site>,
    pub places: BTreeMap<u32, PlaceEntry>,
    /// Labels by number.
    pub labels: Vec<String>,
    pub notes: Vec<Note>,
    pub pairs: Vec<ClockPair>,
    pub readings: Vec<OffCpu>,
    /// Frames by number.
    pub frames: BTreeMap<u32, FrameEntry>,
    /// Stacks by number.
    pub stacks: BTreeMap<u32, StackEntry>,
    pub samples: Vec<SamplesEntry>,
    pub cpu_times: Vec<CpuTime>,
    /// Names of threads, by thread number in the trace.
    pub names: BTreeMap<u32, String>,
    pub stops: Vec<StopsEntry>,
    pub waits: Vec<WaitsEntry>,
    pub rank_calls: Vec<RankCallsEntry>,
    pub finished: Option<Finished>,
    pub warnings: Vec<String>,
    /// The number of damaged places that were skipped.
    pub damaged: u64,
    /// Whether damage is skipped and reported instead of being an error.
    pub tolerant: bool,
    /// Whether its sampled joins become one strand each.
    pub shortens: bool,
    /// Set if its records were folded while it was read.
    pub read_folding: Option<ReadFolding>,
}

/// A thread's events.
#[derive(Debug, Default)]
pub(super) struct Thread<'a> {
    /// The thread's number in the file.
    pub number: u32,
    /// The chunks that count ([`super::process_end`]), in order: first the thread's own, without a
    /// gap, then those with its off-CPU times.
    pub chunks: Vec<Records<'a>>,
    /// Whether a chunk is missing, so that the records after it are not known.
    pub cut: bool,
}

/// The records of a chunk.
#[derive(Debug, Clone, Copy)]
pub(super) struct Records<'a> {
    /// The position of the records in the file.
    pub offset: u64,
    /// The time from which the first record's ticks count.
    pub base: u64,
    /// The records.
    pub bytes: &'a [u8],
    /// Whether they are only off-CPU times. Such records depend on no others, and their times start
    /// again.
    pub off_cpu: bool,
}

/// The largest length of a label in bytes, so that a hostile file cannot fill the user's screen.
const MAX_LABEL_BYTES: usize = 4096;

/// Reads the chunks of a file.
pub(super) fn read<'a>(bytes: &'a [u8], options: &OpenOptions) -> Result<TraceChunks<'a>, Error> {
    read_content(TraceBytes::from_slice(bytes), options)
}

/// Like [`read`], but releases the pages of a mapped file that it has read.
pub(super) fn read_content<'a>(
    content: TraceBytes<'a>,
    options: &OpenOptions,
) -> Result<TraceChunks<'a>, Error> {
    let bytes = content.bytes;
    let mut passing = ReleasingPass::through(content);
    let trace = Trace::open(bytes)?;
    let tolerance = if options.allow_truncated {
        Tolerance::Tolerant
    } else {
        Tolerance::Strict
    };
    let mut sorted = TraceChunks {
        header: trace.header,
        tolerant: options.allow_truncated,
        shortens: is_requested(options.grain, bytes.len()),
        ..TraceChunks::default()
    };
    let mut events: BTreeMap<u32, BTreeMap<u32, Records<'a>>> = BTreeMap::new();
    let mut labels: BTreeMap<u32, String> = BTreeMap::new();
    let mut bases = Vec::new();
    let mut chunks = trace.chunks(tolerance);
    for chunk in chunks.by_ref() {
        let chunk = chunk?;
        passing.pass(chunk.payload.len());
        let bodies = || entries(chunk.payload);
        match chunk.kind {
            ChunkKind::Events => {
                let offset = chunk.offset + CHUNK_HEADER_SIZE as u64;
                let records = Records {
                    offset,
                    base: chunk.base_ticks,
                    bytes: chunk.payload,
                    off_cpu: is_off_cpu(chunk.payload, chunk.base_ticks),
                };
                events
                    .entry(chunk.thread)
                    .or_default()
                    .entry(chunk.seq)
                    .or_insert(records);
                if chunk.base_ns != 0 {
                    bases.push(ClockPair {
                        ticks: chunk.base_ticks,
                        ns: chunk.base_ns,
                    });
                }
            }
            ChunkKind::Sites => sorted
                .sites
                .extend(bodies().filter_map(Site::decode).map(|s| (s.id, s))),
            ChunkKind::Places => sorted
                .places
                .extend(bodies().filter_map(PlaceEntry::decode).map(|p| (p.site, p))),
            ChunkKind::Labels => {
                labels.extend(bodies().filter_map(Label::decode).map(|l| (l.id, l.text)))
            }
            ChunkKind::Notes => sorted.notes.extend(bodies().filter_map(Note::decode)),
            ChunkKind::Clock => sorted.pairs.extend(bodies().filter_map(ClockPair::decode)),
            ChunkKind::OffCpu => sorted.readings.extend(bodies().filter_map(OffCpu::decode)),
            ChunkKind::Finished => {
                sorted.finished = bodies().find_map(Finished::decode).or(sorted.finished)
            }
            ChunkKind::Frames => sorted
                .frames
                .extend(bodies().filter_map(FrameEntry::decode).map(|f| (f.id, f))),
            ChunkKind::Stacks => sorted
                .stacks
                .extend(bodies().filter_map(StackEntry::decode).map(|s| (s.id, s))),
            ChunkKind::Samples => sorted
                .samples
                .extend(bodies().filter_map(SamplesEntry::decode)),
            ChunkKind::CpuTimes => sorted
                .cpu_times
                .extend(bodies().filter_map(CpuTime::decode)),
            ChunkKind::Stops => sorted.stops.extend(bodies().filter_map(StopsEntry::decode)),
            ChunkKind::Waits => sorted.waits.extend(bodies().filter_map(WaitsEntry::decode)),
            ChunkKind::RankCalls => sorted
                .rank_calls
                .extend(bodies().filter_map(RankCallsEntry::decode)),
            // Only spool files have it; the finished trace has off-CPU times instead.
            ChunkKind::Threads => {
                for thread in bodies().filter_map(ThreadEntry::decode) {
                    sorted.names.entry(thread.thread).or_insert(thread.name);
                }
            }
            ChunkKind::ThreadNames => sorted.names.extend(
                bodies()
                    .filter_map(ThreadName::decode)
                    .map(|named| (named.thread, named.name)),
            ),
            ChunkKind::Maps | ChunkKind::CpuReadings | ChunkKind::WaitLog => {}
        }
    }
    sorted.warnings.extend(damage_warning(&chunks));
    sorted.damaged = chunks.damaged;
    if sorted.pairs.len() < 2 || sorted.finished.is_none() {
        sorted.pairs.extend(bases);
    }
    sorted.labels = label_list(labels);
    let mut cut = 0u64;
    for (number, of_thread) in events {
        let (found, mut thread) = (
            of_thread.len(),
            Thread {
                number,
                ..Thread::default()
            },
        );
        // Chunks kept by a flight recorder begin with the thread's open state.
        let first = of_thread.iter().next();
        let from = first
            .filter(|(_, chunk)| begins_anew(chunk))
            .map_or(0, |(&seq, _)| seq as usize);
        // After a missing chunk, the following ones cannot be used, because the stack of tasks
        // would be wrong; off-CPU times do not need a stack.
        let mut expected = from;
        for (seq, chunk) in of_thread {
            if seq as usize == expected {
                expected += 1;
            } else if !chunk.off_cpu {
                continue;
            }
            thread.chunks.push(chunk);
        }
        thread.cut = found > expected - from;
        cut += u64::from(thread.cut);
        sorted.threads.push(thread);
    }
    if cut > 0 {
        sorted.warnings.push(format!(
            "A chunk of {cut} thread(s) is missing; what they did afterwards is not known."
        ));
    }
    cut_at_process_end(&mut sorted);
    Ok(sorted)
}

/// A sentence about the chunks that were skipped.
pub(crate) fn damage_warning(chunks: &Chunks<'_>) -> Option<String> {
    let first = chunks.damage.first()?;
    // The advice behind the error's semicolon was followed: the rest was read.
    let first = first.to_string();
    let what = first.split("; ").next().unwrap_or(&first);
    let s = if chunks.damaged == 1 { "" } else { "s" };
    Some(format!(
        "The trace is damaged in {} place{s}, first at {what}. It was read up to the damage.",
        chunks.damaged
    ))
}

/// Whether a chunk begins with its thread's open state.
fn begins_anew(chunk: &Records<'_>) -> bool {
    let first = Events::new(chunk.bytes, chunk.base).next();
    matches!(first, Some((_, Event::Restart { .. })))
}

/// Labels by number. Numbers far beyond their count are ignored.
fn label_list(labels: BTreeMap<u32, String>) -> Vec<String> {
    let room = labels.len().saturating_mul(2).saturating_add(16);
    let mut list: Vec<String> = Vec::new();
    for (id, mut text) in labels {
        let id = id as usize;
        if id < room {
            list.resize(id + 1, "?".into());
            if text.len() > MAX_LABEL_BYTES {
                let end = (0..=MAX_LABEL_BYTES)
                    .rev()
                    .find(|&i| text.is_char_boundary(i))
                    .unwrap_or(0);
                text.truncate(end);
            }
            list[id] = text;
        }
    }
    list
}
