//! The chunks of a file, by what they are.

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
use super::skipped::as_one_record::wanted;
use crate::open::{OpenOptions, TraceBytes};
use crate::released_pages::ReleasingPass;
use workspan_dag::Error;
use workspan_dag::meta::Shortened;

/// What a file holds.
#[derive(Debug, Default)]
pub(super) struct TraceChunks<'a> {
    pub header: FileHeader,
    /// By number.
    pub threads: Vec<Thread<'a>>,
    pub sites: BTreeMap<u32, Site>,
    pub places: BTreeMap<u32, PlaceEntry>,
    /// By label number.
    pub labels: Vec<String>,
    pub notes: Vec<Note>,
    pub pairs: Vec<ClockPair>,
    pub readings: Vec<OffCpu>,
    /// By number.
    pub frames: BTreeMap<u32, FrameEntry>,
    /// By number.
    pub stacks: BTreeMap<u32, StackEntry>,
    pub samples: Vec<SamplesEntry>,
    pub cpu_times: Vec<CpuTime>,
    /// Names of threads, by their numbers in the trace.
    pub names: BTreeMap<u32, String>,
    pub stops: Vec<StopsEntry>,
    pub waits: Vec<WaitsEntry>,
    pub rank_calls: Vec<RankCallsEntry>,
    pub finished: Option<Finished>,
    pub warnings: Vec<String>,
    /// Damaged places that were passed over.
    pub damaged: u64,
    /// Damage is left out and told, not an error.
    pub tolerant: bool,
    /// Its drawn joins are to be told as one strand each.
    pub shortens: bool,
    /// Its records were folded while it was read.
    pub shortened: Option<Shortened>,
}

/// A thread's events.
#[derive(Debug, Default)]
pub(super) struct Thread<'a> {
    /// Its number in the file.
    pub number: u32,
    /// Its chunks that count ([`super::process_end`]), in order: its own, without a gap, then those
    /// of its times off the CPU.
    pub chunks: Vec<Records<'a>>,
    /// A chunk is missing: what came after the others is not known.
    pub cut: bool,
}

/// The records of a chunk.
#[derive(Debug, Clone, Copy)]
pub(super) struct Records<'a> {
    /// Where they begin in the file.
    pub offset: u64,
    /// What the first one's ticks count from.
    pub base: u64,
    /// The records.
    pub bytes: &'a [u8],
    /// They are times off the CPU and nothing else: they need no other record, and their time
    /// begins anew.
    pub off_cpu: bool,
}

/// Text is for people; a hostile file does not get to fill their screens.
const MAX_LABEL_BYTES: usize = 4096;

/// Walks the chunks of a file.
pub(super) fn read<'a>(bytes: &'a [u8], options: &OpenOptions) -> Result<TraceChunks<'a>, Error> {
    read_content(TraceBytes::of(bytes), options)
}

/// The same of a file that may be mapped: of one that is, hardly any pages stay.
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
        shortens: wanted(options.grain, bytes.len()),
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
            // Of a spool file; the finished trace has times off the CPU instead.
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
    sorted.warnings.extend(damage_told(&chunks));
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
        // What a ring kept begins with what the thread had open.
        let first = of_thread.iter().next();
        let from = first
            .filter(|(_, chunk)| begins_anew(chunk))
            .map_or(0, |(&seq, _)| seq as usize);
        // A chunk that is missing takes all that follow it along, as the stack of tasks would be
        // wrong; times off the CPU need none.
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
            "Of {cut} thread(s) a chunk is missing; what they did from there on is not known."
        ));
    }
    cut_at_process_end(&mut sorted);
    Ok(sorted)
}

/// What a walk over all chunks left out, as a sentence.
pub(crate) fn damage_told(chunks: &Chunks<'_>) -> Option<String> {
    let first = chunks.damage.first()?;
    // What an error advises behind a semicolon was done: the rest was read.
    let first = first.to_string();
    let what = first.split("; ").next().unwrap_or(&first);
    let s = if chunks.damaged == 1 { "" } else { "s" };
    Some(format!(
        "The trace is damaged in {} place{s}, the first at {what}. What is intact before the damage was read.",
        chunks.damaged
    ))
}

/// True for a chunk that says first what its thread had open.
fn begins_anew(chunk: &Records<'_>) -> bool {
    let first = Events::new(chunk.bytes, chunk.base).next();
    matches!(first, Some((_, Event::Restart { .. })))
}

/// Labels by number; numbers far beyond their count are no one's.
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
