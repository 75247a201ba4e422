//! Reads a recorded trace (`.wspan`, or the spool file a process left behind).
//!
//! `chunks_by_thread` sorts the file's chunks by what they are and leaves of each thread's those
//! records that count (`process_end`); `survey` walks all events once to learn how many tasks,
//! scopes and yields each thread has and who was in which team (`teams`), what unrecorded subtrees
//! hold (`skipped`), and numbers the tasks by creation; `replay` walks them again with each
//! thread's stack of tasks and tells the run; `workers` gives threads their numbers, `places` sites
//! their names, `clock` ticks their rate, `off_cpu_estimate` off-CPU times their strands, and
//! `off_cpu` makes one of those told twice. `fold` makes large runs short before all that. What
//! is inconsistent is repaired, counted and told in the warnings; times start at 0.

mod chunks_by_thread;
mod clock;
mod cpu_time;
pub mod expand;
mod facts;
mod fold;
pub(crate) mod index;
pub(crate) mod off_cpu;
mod off_cpu_estimate;
mod places;
mod plain_threads;
pub mod preview;
mod probe;
mod process_end;
mod replay;
mod samples;
mod skipped;
mod start_waits;
mod survey;
mod teams;
mod thread_extent;
mod workers;

use std::time::{Duration, Instant};

use self::chunks_by_thread::TraceChunks;
pub(crate) use self::chunks_by_thread::damage_told;
use self::index::SidecarIndex;
use self::places::Places;
use crate::open::{Index, OpenOptions, TraceBytes};
use workspan_dag::Dag;
use workspan_dag::Error;
use workspan_dag::build::{Mode, build};
use workspan_dag::raw::RawTrace;
use workspan_trace::FileHeader;
use workspan_trace::entry::Note;

/// Folding for longer than this is worth an index.
const SLOW: Duration = Duration::from_secs(1);

/// The extent of a trace.
#[derive(Debug, Clone, Copy, Default)]
struct Extent {
    /// Records.
    events: u64,
    tasks: usize,
    /// Chunks that hold bytes that are no record.
    bad: u64,
    /// Subtrees that were not recorded, and those that were drawn to estimate them.
    drawn: (u64, u64),
    /// First and last moment of all events, in the file's ticks.
    first: u64,
    last: u64,
}

/// Reads a recorded trace from the bytes of its file. Time is linear in the events (n log t with t
/// threads).
///
/// # Errors
/// It is none, of another version, damaged (unless `options.allow_truncated`), without any task, or
/// with 2^32 tasks or strands.
pub fn read(bytes: &[u8], options: &OpenOptions) -> Result<RawTrace, Error> {
    let chunks = chunks_by_thread::read(bytes, options)?;
    let places = places::places(&chunks);
    Ok(told(chunks, places, bytes.len())?.0)
}

/// A process's part of a run of several.
pub(crate) struct Member {
    /// What it did, in its own times and numbers.
    pub raw: RawTrace,
    /// The tick that is 0 in it.
    pub first: u64,
    /// The file's header.
    pub header: FileHeader,
    /// All that the process told as notes.
    pub notes: Vec<Note>,
}

/// Reads a process's part of a run of several; what is short is folded as in [`dag`].
///
/// # Errors
/// As of [`read`].
pub(crate) fn member(bytes: &[u8], options: &OpenOptions) -> Result<Member, Error> {
    let chunks = chunks_by_thread::read(bytes, options)?;
    let places = places::places(&chunks);
    let (header, notes) = (chunks.header, chunks.notes.clone());
    let short = fold::fold(&chunks, &places, options, TraceBytes::of(bytes));
    let (raw, extent) = match short {
        Some(short) => told(short.instead(chunks), places, bytes.len())?,
        None => told(chunks, places, bytes.len())?,
    };
    Ok(Member {
        raw,
        first: extent.first,
        header,
        notes,
    })
}

/// The [`Dag`] of a recorded trace: [`read`] and [`build`], of its folded records if it is large.
///
/// # Errors
/// Those of [`read`] and [`build`].
pub fn dag(bytes: &[u8], options: &OpenOptions) -> Result<Dag, Error> {
    dag_with_index(TraceBytes::of(bytes), options, None)
}

/// [`dag`] of a trace that may have an index.
pub(crate) fn dag_with_index(
    content: TraceBytes<'_>,
    options: &OpenOptions,
    beside: Option<&SidecarIndex>,
) -> Result<Dag, Error> {
    let bytes = content.bytes;
    if let Some(dag) = beside.and_then(index::read) {
        return Ok(dag);
    }
    let started = Instant::now();
    let chunks = chunks_by_thread::read_content(content, options)?;
    let places = places::places(&chunks);
    if let Some(short) = fold::fold(&chunks, &places, options, content) {
        let slow = options.index == Index::Always || started.elapsed() > SLOW;
        if let Some(beside) = beside.filter(|_| slow && index::may_have(&chunks)) {
            // Where it can't be written, the next reader folds again.
            let _ = index::write(beside, bytes, &short);
        }
        content.release_pages();
        let (raw, _) = told(short.instead(chunks), places, bytes.len())?;
        return build(raw, Mode::Repair);
    }
    build(told(chunks, places, bytes.len())?.0, Mode::Repair)
}

fn told(chunks: TraceChunks<'_>, places: Places, size: usize) -> Result<(RawTrace, Extent), Error> {
    let counts = survey::survey(&chunks)?;
    let extent = counts.extent();
    let mut raw = RawTrace::default();
    let mut told = replay::replay(&chunks, &counts, &places, &mut raw);
    raw.offs = off_cpu::unite(std::mem::take(&mut raw.offs));
    let strands = raw.strands.iter().map(|s| (s.thread, s.start, s.end));
    off_cpu_estimate::spread(&chunks, extent, strands, &mut raw.offs);
    samples::samples(&chunks, extent, &mut raw);
    plain_threads::mark(&raw, facts::cpus(&chunks.notes), &places, &mut told);
    let threads = workers::assign(&told, extent.last - extent.first);
    raw.meta = facts::meta(&chunks, extent, &told, &threads, &places, size);
    raw.meta.probe_cost = counts.unrecorded.probe();
    raw.pools = workers::pools(&told, &threads, &places, extent.last - extent.first);
    start_waits::add(&mut raw, threads.number.len(), &places);
    workers::renumber(&threads, &mut raw);
    raw.late_ends = facts::late_ends(&chunks.notes);
    (raw.places, raw.labels) = (places.list, chunks.labels);
    Ok((raw, extent))
}
