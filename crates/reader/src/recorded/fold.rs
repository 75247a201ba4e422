//! Reads a large trace through the fold (MODEL.md §7): short subtrees that ran on one thread become
//! one record each, thread by thread, before the run is built. A run of 10⁸ tasks thus has a graph
//! of about 10⁵.
//!
//! A reader has information that a recorder lacks, so it folds only where that changes no measure.
//! Weights exclude the probes' time strand by strand. Strands that were off the CPU stay as they
//! are. Sites that are one place to the user count as one. While workers were idle, ready tasks
//! count (§5): a folded subtree is then shorter than a thief needs to come, or its thread had
//! created one more task for each of these workers to take, which was ready outside.

mod idle;
mod lane;
mod stack;

use rayon::prelude::*;
use workspan_fold::{Constraint, FoldOptions, StealKind};

use self::idle::Idle;
use self::lane::ThreadSurvey;
use super::chunks_by_thread::{Thread, TraceChunks};
use super::places::Places;
use super::replay::ReplayLog;
use super::{clock, probe, workers};
use crate::open::{Grain, OpenOptions, TraceBytes};
use workspan_dag::meta::ReadFolding;

/// The size of records, in bytes, from which a trace is folded. Reading a smaller one task by task
/// takes at most half a second.
const MIN_FOLDED_BYTES: usize = 8 << 20;
/// The number of grains in the run's W · elapsed, so that about as many tasks are left.
const TARGET_GRAINS: u64 = 100_000;
/// The number of tasks of the file's run per folded subtree, on average. Around each folded subtree
/// about ten tasks may be left, because a recursion leaves one for each that it creates before it
/// waits. A task takes ten times as many bytes in the graph as in the file.
const TASKS_PER_GRAIN: u64 = 100;
/// The smallest grain that is chosen, in nanoseconds.
const MIN_GRAIN_NS: u64 = 10_000;
/// The largest grain that is chosen, in nanoseconds.
const MAX_GRAIN_NS: u64 = 1_000_000;
/// The time in which an idle worker finds a ready task, in nanoseconds.
const THIEF_NS: u64 = 2_000;
/// Folding must remove at least this fraction of the records (a quarter), otherwise each task is
/// read instead, unless folding was requested.
const REMOVED_FRACTION: usize = 4;

/// The records of a thread, folded.
#[derive(Debug, Default)]
pub(super) struct ThreadRecords {
    /// The time from which the first record's ticks count.
    pub base: u64,
    /// The records.
    pub bytes: Vec<u8>,
    /// The index of the thread's first chunk that stays as it is. Those chunks have off-CPU times,
    /// which follow all other records and whose times start again.
    pub rest: usize,
}

/// A folded run.
#[derive(Debug)]
pub(super) struct FoldedRun {
    /// The threads, in the order of the file.
    pub lanes: Vec<ThreadRecords>,
    /// Statistics of the folding.
    pub about: ReadFolding,
}

/// Folds the run in `content` if `options` allow it and it is worthwhile.
pub(super) fn fold(
    chunks: &TraceChunks<'_>,
    places: &Places,
    options: &OpenOptions,
    content: TraceBytes<'_>,
) -> Option<FoldedRun> {
    let bytes = record_bytes(chunks);
    let grain = options.grain;
    if grain == Grain::None || grain == Grain::Auto && bytes < MIN_FOLDED_BYTES {
        return None;
    }
    let rate = clock::ticks_per_second(chunks).unwrap_or(1_000_000_000);
    let ticks = |ns: u64| (u128::from(ns) * u128::from(rate) / 1_000_000_000) as u64;
    let thief = ticks(THIEF_NS).max(1);
    let looked = each_thread(chunks, |place, thread| {
        ThreadSurvey::at(place as u32, thread, thief)
    });
    content.release_pages();
    let first = looked.iter().map(|l| l.extent.first).min()?;
    let last = looked.iter().map(|l| l.extent.last).max()?;
    let mut log = ReplayLog::default();
    for l in &looked {
        l.extent.tell(&mut log);
    }
    let workers = workers::assign(&log, last).workers;
    let grain = match grain {
        Grain::Nanoseconds(ns) => ticks(ns),
        _ => {
            let tasks = looked.iter().map(|l| l.tasks).sum();
            let all = u128::from(last.saturating_sub(first)) * u128::from(workers);
            usual_grain(all, tasks).clamp(ticks(MIN_GRAIN_NS), ticks(MAX_GRAIN_NS))
        }
    };
    if grain == 0 {
        return None;
    }
    let idle = idle::idle(&looked, workers, (first, last));
    let folding = FoldOptions {
        grain,
        max_tasks: u64::MAX,
        thieves: match chunks
            .notes
            .iter()
            .find(|n| n.key == workspan_dag::note_keys::STEALS)
        {
            Some(note) if note.value == "continuation" => StealKind::TakeContinuations,
            _ => StealKind::TakeChildren,
        },
        unfolded_sites: Vec::new(),
        memory: MAX_OPEN_BYTES,
    };
    // The cost that a survey of all records finds: if subtrees were sampled, it is more accurate
    // than the trace's notes.
    let cost = match looked.iter().any(|l| l.drawn) {
        _ if options.raw => 0,
        true => super::survey::probe_cost(chunks),
        false => probe::cost(&chunks.notes),
    };
    let sites = places.first_sites();
    let releases = releases(chunks);
    let folded = each_thread(chunks, |place, thread| {
        let from = releases.partition_point(|release| release.0 < thread.number);
        let own = releases[from..].iter();
        let own = own.take_while(|release| release.0 == thread.number);
        let plan = Plan {
            cuts: cuts(&idle, &looked[place], own.map(|r| r.1), thief.min(grain)),
            taken: stolen_tasks(&looked, thread.number),
        };
        lane::fold(thread, &folding, (cost, &sites), plan, content)
    });
    let left: usize = folded.iter().map(|f| f.0.bytes.len()).sum();
    if options.grain == Grain::Auto && left >= bytes - bytes / REMOVED_FRACTION {
        return None;
    }
    let about = ReadFolding {
        grain,
        tasks: looked.iter().map(|l| l.tasks).sum(),
        events: looked.iter().map(|l| l.extent.events).sum(),
        bytes: bytes as u64,
        size: content.bytes.len() as u64,
        records: folded.iter().map(|f| f.1).sum(),
        // Set once everything is known.
        origin: 0,
        threads: Vec::new(),
    };
    let lanes = folded.into_iter().map(|f| f.0).collect();
    Some(FoldedRun { lanes, about })
}

/// The grain for a run of W · elapsed = `all` ticks and this number of tasks.
fn usual_grain(all: u128, tasks: u64) -> u64 {
    let grains = (tasks / TASKS_PER_GRAIN).clamp(1, TARGET_GRAINS);
    u64::try_from(all / u128::from(grains)).unwrap_or(u64::MAX)
}

/// The largest memory of a thread for open sections while it folds, in bytes.
const MAX_OPEN_BYTES: usize = 256 << 20;

/// The size of all threads' records, in bytes.
fn record_bytes(chunks: &TraceChunks<'_>) -> usize {
    let chunks = chunks.threads.iter().flat_map(|t| &t.chunks);
    chunks.map(|c| c.bytes.len()).sum()
}

/// Calls `f` for each thread, several at a time.
fn each_thread<'a, T: Send>(
    chunks: &TraceChunks<'a>,
    f: impl Fn(usize, &Thread<'a>) -> T + Sync,
) -> Vec<T> {
    let threads = chunks.threads.par_iter().enumerate();
    threads
        .with_max_len(1)
        .map(|(place, thread)| f(place, thread))
        .collect()
}

/// The information about a thread that is needed before it is folded.
struct Plan {
    cuts: Vec<(u64, Constraint)>,
    /// Counts of its creates that other threads ran, ascending.
    taken: Vec<u64>,
}

/// Counts of the thread's creates that other threads ran, ascending.
fn stolen_tasks(looked: &[ThreadSurvey], thread: u32) -> Vec<u64> {
    let names = looked.iter().flat_map(|l| &l.taken);
    let mut taken: Vec<u64> = names
        .filter(|name| name.0 == thread)
        .map(|name| name.1)
        .collect();
    taken.sort_unstable();
    taken
}

/// The moments at which a thread released what another one waited for, by thread number, then time.
/// An edge starts there ([`workspan_dag::Handoff`]), and no edge can start inside a folded strand.
fn releases(chunks: &TraceChunks<'_>) -> Vec<(u32, u64)> {
    let mut releases: Vec<(u32, u64)> = Vec::new();
    for entry in &chunks.waits {
        let ended = entry.waits.iter().filter(|wait| wait.object != 0);
        releases.extend(ended.filter_map(|wait| {
            let by = wait.by.filter(|&by| by != entry.thread)?;
            Some((by, wait.begin.saturating_add(wait.held)))
        }));
    }
    releases.sort_unstable();
    releases.dedup();
    releases
}

/// The constraints of a thread: the run's idle times, its own off-CPU times, and its releases.
/// While workers are idle, subtrees shorter than `short` are always folded.
fn cuts(
    idle: &[Idle],
    looked: &ThreadSurvey,
    releases: impl Iterator<Item = u64>,
    short: u64,
) -> Vec<(u64, Constraint)> {
    let mut cuts = Vec::with_capacity(2 * (idle.len() + looked.offs.len()));
    for idle in idle {
        // Tasks with dependences need not be ready.
        let workers = if looked.depends {
            u32::MAX
        } else {
            idle.workers
        };
        cuts.push((idle.from, Constraint::Idle { workers, short }));
        cuts.push((idle.to, Constraint::Idle { workers: 0, short }));
    }
    // A strand that ends where the thread goes off the CPU, or begins where it comes back, was on
    // the CPU.
    for &(from, to) in looked.offs.iter().filter(|off| off.0 < off.1) {
        cuts.push((from.saturating_add(1), Constraint::Leave));
        cuts.push((to, Constraint::Return));
    }
    // Sections that are open at a release stay as they are; the thread is not off the CPU
    // afterwards.
    for release in releases {
        let after = release.saturating_add(1);
        cuts.extend([(after, Constraint::Leave), (after, Constraint::Return)]);
    }
    cuts.sort_by_key(|cut| cut.0);
    cuts
}

impl FoldedRun {
    /// The same run with these records instead of the file's.
    pub(super) fn instead<'s>(&'s self, chunks: TraceChunks<'s>) -> TraceChunks<'s> {
        let mut chunks = chunks;
        for (thread, lane) in chunks.threads.iter_mut().zip(&self.lanes) {
            let offset = thread.chunks.first().map_or(0, |c| c.offset);
            let folded = super::chunks_by_thread::Records {
                offset,
                base: lane.base,
                bytes: &lane.bytes,
                off_cpu: false,
            };
            let rest = thread.chunks.get(lane.rest..).unwrap_or(&[]);
            thread.chunks = [&[folded], rest].concat();
        }
        chunks.read_folding = Some(self.about.clone());
        chunks
    }
}
