//! Reads a recorded trace (`.wspan`, or the spool file a process left behind).
//!
//! `chunks_by_thread` sorts the file's chunks by kind and keeps the records of each thread that
//! count (`process_end`). `survey` reads all events once to count the tasks, scopes and yields of
//! each thread, to find the members of each team (`teams`) and the contents of skipped subtrees
//! (`skipped`), and to number the tasks in order of creation. `replay` reads the events again with
//! each thread's stack of tasks and builds the run. `workers` numbers the threads, `places` names
//! the sites, `clock` finds the rate of the ticks, `off_cpu_estimate` assigns off-CPU times to
//! strands, and `off_cpu` merges overlapping ones. Before all that, `fold` shortens large runs.
//! Inconsistent records are repaired, counted and reported in the warnings. Times start at 0.

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
pub(crate) use self::chunks_by_thread::damage_warning;
pub(crate) use self::clock::POSSIBLE_RATES;
use self::index::SidecarIndex;
use self::places::Places;
use crate::open::{Index, OpenOptions, TraceBytes};
use workspan_dag::Dag;
use workspan_dag::Error;
use workspan_dag::build::{Mode, build};
use workspan_dag::raw::RawTrace;
use workspan_trace::FileHeader;
use workspan_trace::entry::{ClockPair, Note};

/// An index is written if folding took longer than this.
const SLOW_FOLDING: Duration = Duration::from_secs(1);

/// The extent of a trace.
#[derive(Debug, Clone, Copy, Default)]
struct Extent {
    /// The number of records.
    events: u64,
    tasks: usize,
    /// The number of chunks with bytes that are not a record.
    bad: u64,
    /// The number of skipped subtrees, and of those that were sampled to estimate them.
    drawn: (u64, u64),
    /// The first and last moment of all events, in the file's ticks.
    first: u64,
    last: u64,
}

/// Reads a recorded trace from the bytes of its file. Time is linear in the number of events (n log
/// t with t threads).
///
/// # Errors
/// The bytes are not a recorded trace, have another version, are damaged (unless
/// `options.allow_truncated`), have no task, or have 2^32 tasks or strands.
pub fn read(bytes: &[u8], options: &OpenOptions) -> Result<RawTrace, Error> {
    let chunks = chunks_by_thread::read(bytes, options)?;
    let places = places::places(&chunks);
    Ok(replay_run(chunks, places, bytes.len())?.0)
}

/// One process's part of a run of several processes.
pub(crate) struct Member {
    /// The process's run, in its own times and numbers.
    pub raw: RawTrace,
    /// The tick that is 0 in it.
    pub first: u64,
    /// The file's header.
    pub header: FileHeader,
    /// All notes of the process.
    pub notes: Vec<Note>,
    /// Its readings of ticks and nanoseconds.
    pub pairs: Vec<ClockPair>,
}

/// Reads one process's part of a run of several. Short subtrees are folded as in [`dag`].
///
/// # Errors
/// The same as for [`read`].
pub(crate) fn member(bytes: &[u8], options: &OpenOptions) -> Result<Member, Error> {
    let chunks = chunks_by_thread::read(bytes, options)?;
    let places = places::places(&chunks);
    let (header, notes) = (chunks.header, chunks.notes.clone());
    let pairs = clock::pairs(&chunks).collect();
    let short = fold::fold(&chunks, &places, options, TraceBytes::from_slice(bytes));
    let (raw, extent) = match short {
        Some(short) => replay_run(short.instead(chunks), places, bytes.len())?,
        None => replay_run(chunks, places, bytes.len())?,
    };
    Ok(Member {
        raw,
        first: extent.first,
        header,
        notes,
        pairs,
    })
}

/// The [`Dag`] of a recorded trace: [`read`] and [`build`], with folded records if the trace is
/// large.
///
/// # Errors
/// The errors of [`read`] and [`build`].
pub fn dag(bytes: &[u8], options: &OpenOptions) -> Result<Dag, Error> {
    dag_with_index(TraceBytes::from_slice(bytes), options, None)
}

/// [`dag`] for a trace that may have an index.
pub(crate) fn dag_with_index(
    content: TraceBytes<'_>,
    options: &OpenOptions,
    sidecar: Option<&SidecarIndex>,
) -> Result<Dag, Error> {
    let bytes = content.bytes;
    if let Some(dag) = sidecar.and_then(index::read) {
        return Ok(dag);
    }
    let started = Instant::now();
    let chunks = chunks_by_thread::read_content(content, options)?;
    let places = places::places(&chunks);
    if let Some(short) = fold::fold(&chunks, &places, options, content) {
        let slow = options.index == Index::Always || started.elapsed() > SLOW_FOLDING;
        if let Some(sidecar) = sidecar.filter(|_| slow && index::may_have(&chunks)) {
            // If it cannot be written, the next reader folds again.
            let _ = index::write(sidecar, bytes, &short);
        }
        content.release_pages();
        let (raw, _) = replay_run(short.instead(chunks), places, bytes.len())?;
        return build(raw, Mode::Repair);
    }
    build(replay_run(chunks, places, bytes.len())?.0, Mode::Repair)
}

fn replay_run(
    chunks: TraceChunks<'_>,
    places: Places,
    size: usize,
) -> Result<(RawTrace, Extent), Error> {
    let counts = survey::survey(&chunks)?;
    let extent = counts.extent();
    let mut raw = RawTrace::default();
    let mut log = replay::replay(&chunks, &counts, &places, &mut raw);
    raw.offs = off_cpu::unite(std::mem::take(&mut raw.offs));
    let strands = raw.strands.iter().map(|s| (s.thread, s.start, s.end));
    off_cpu_estimate::spread(&chunks, extent, strands, &mut raw.offs);
    samples::samples(&chunks, extent, &mut raw);
    plain_threads::mark(&raw, facts::cpus(&chunks.notes), &places, &mut log);
    let threads = workers::assign(&log, extent.last - extent.first);
    raw.meta = facts::meta(&chunks, extent, &log, &threads, &places, size);
    raw.meta.probe_cost = counts.skipped.probe();
    raw.pools = workers::pools(&log, &threads, &places, extent.last - extent.first);
    start_waits::add(&mut raw, threads.number.len(), &places);
    workers::renumber(&threads, &mut raw);
    raw.late_ends = facts::late_ends(&chunks.notes);
    (raw.places, raw.labels) = (places.list, chunks.labels);
    Ok((raw, extent))
}
