//! Reads a large trace through the fold (MODEL.md §7): subtrees that are short and ran on one
//! thread become one record each, thread by thread, before the run is told. So a run of 10⁸ tasks
//! has a graph of some 10⁵.
//!
//! A reader knows what a recorder can't, and so folds exactly where that changes nothing: weights
//! leave out the probes' time strand by strand; strands that were off the CPU stay as they are;
//! sites that are one place to people count as one; and while workers had nothing to do, ready
//! tasks count (§5): then what is folded is shorter than a thief would take to come, or its thread
//! had created one more task for each of these workers to take, which stands ready outside.

mod idle;
mod lane;
mod stack;

use rayon::prelude::*;
use workspan_fold::{Cut, FoldOptions, Thieves};

use self::idle::Idle;
use self::lane::ThreadSurvey;
use super::chunks_by_thread::{Thread, TraceChunks};
use super::places::Places;
use super::replay::ReplayLog;
use super::{clock, probe, workers};
use crate::open::{Grain, OpenOptions, TraceBytes};
use workspan_dag::meta::Shortened;

/// Records of fewer bytes are read one by one: that takes no longer than half a second.
const WORTHWHILE: usize = 8 << 20;
/// As many grains as this make up the run's W · elapsed, so that about as many tasks are left.
const GRAINS: u64 = 100_000;
/// So many tasks or more of the file's run in one on average. Around what is folded some ten may be
/// left of each, as a recursion leaves one for each that it creates before it waits, and a task
/// takes ten times as many bytes in the graph as in the file.
const TASKS: u64 = 100;
/// The grain chosen is within these, in nanoseconds.
const LEAST: u64 = 10_000;
/// See `LEAST`.
const MOST: u64 = 1_000_000;
/// Idle workers have found something to do after this time, in nanoseconds, if there was anything.
const THIEF: u64 = 2_000;
/// This part of the records must be gone, or each task may as well be read; unless it was asked
/// for.
const PART: usize = 4;

/// The records of a thread, folded.
#[derive(Debug, Default)]
pub(super) struct Lane {
    /// What the first one's ticks count from.
    pub base: u64,
    /// The records.
    pub bytes: Vec<u8>,
    /// The thread's chunks from this one on stay as they are: times off the CPU, told after all
    /// else, with which time begins anew.
    pub rest: usize,
}

/// A run, folded.
#[derive(Debug)]
pub(super) struct Short {
    /// By thread, as in the file.
    pub lanes: Vec<Lane>,
    /// What was done.
    pub about: Shortened,
}

/// Folds a run, which is in `content`, where `options` say so and it is worth it.
pub(super) fn fold(
    chunks: &TraceChunks<'_>,
    places: &Places,
    options: &OpenOptions,
    content: TraceBytes<'_>,
) -> Option<Short> {
    let bytes = record_bytes(chunks);
    let grain = options.grain;
    if grain == Grain::None || grain == Grain::Auto && bytes < WORTHWHILE {
        return None;
    }
    let rate = clock::ticks_per_second(chunks).unwrap_or(1_000_000_000);
    let ticks = |ns: u64| (u128::from(ns) * u128::from(rate) / 1_000_000_000) as u64;
    let thief = ticks(THIEF).max(1);
    let looked = each_thread(chunks, |place, thread| {
        ThreadSurvey::at(place as u32, thread, thief)
    });
    content.release_pages();
    let first = looked.iter().map(|l| l.extent.first).min()?;
    let last = looked.iter().map(|l| l.extent.last).max()?;
    let mut told = ReplayLog::default();
    for l in &looked {
        l.extent.tell(&mut told);
    }
    let workers = workers::assign(&told, last).workers;
    let grain = match grain {
        Grain::Nanoseconds(ns) => ticks(ns),
        _ => {
            let tasks = looked.iter().map(|l| l.tasks).sum();
            let all = u128::from(last.saturating_sub(first)) * u128::from(workers);
            usual_grain(all, tasks).clamp(ticks(LEAST), ticks(MOST))
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
            Some(note) if note.value == "continuation" => Thieves::TakeContinuations,
            _ => Thieves::TakeChildren,
        },
        kept: Vec::new(),
        memory: MEMORY,
    };
    // The cost that a survey of all records takes: where subtrees were drawn, the run knows it
    // better than its notes.
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
            taken: taken(&looked, thread.number),
        };
        lane::fold(thread, &folding, (cost, &sites), plan, content)
    });
    let left: usize = folded.iter().map(|f| f.0.bytes.len()).sum();
    if options.grain == Grain::Auto && left >= bytes - bytes / PART {
        return None;
    }
    let about = Shortened {
        grain,
        tasks: looked.iter().map(|l| l.tasks).sum(),
        events: looked.iter().map(|l| l.extent.events).sum(),
        bytes: bytes as u64,
        size: content.bytes.len() as u64,
        records: folded.iter().map(|f| f.1).sum(),
        // ReplayLog when all is.
        origin: 0,
        threads: Vec::new(),
    };
    let lanes = folded.into_iter().map(|f| f.0).collect();
    Some(Short { lanes, about })
}

/// The grain for a run of W · elapsed = `all` ticks and of so many tasks.
fn usual_grain(all: u128, tasks: u64) -> u64 {
    let grains = (tasks / TASKS).clamp(1, GRAINS);
    u64::try_from(all / u128::from(grains)).unwrap_or(u64::MAX)
}

/// While it folds, a thread takes no more memory than this for what is open.
const MEMORY: usize = 256 << 20;

/// Bytes of all threads' records.
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

/// What is known of a thread before it is folded.
struct Plan {
    cuts: Vec<(u64, Cut)>,
    /// Survey of its creates that other threads ran, ascending.
    taken: Vec<u64>,
}

/// Survey of the thread's creates that others ran, ascending.
fn taken(looked: &[ThreadSurvey], thread: u32) -> Vec<u64> {
    let names = looked.iter().flat_map(|l| &l.taken);
    let mut taken: Vec<u64> = names
        .filter(|name| name.0 == thread)
        .map(|name| name.1)
        .collect();
    taken.sort_unstable();
    taken
}

/// The moments at which a thread released what another one waited for, by the thread's number, then
/// time. An edge leaves the strand there ([`workspan_dag::Handoff`]), and none leaves a folded one.
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

/// What a thread has to respect: the run's idle times, its own times off the CPU, and when it
/// released what others waited for. Where workers are idle, what is shorter than `short` is folded
/// in any case.
fn cuts(
    idle: &[Idle],
    looked: &ThreadSurvey,
    releases: impl Iterator<Item = u64>,
    short: u64,
) -> Vec<(u64, Cut)> {
    let mut cuts = Vec::with_capacity(2 * (idle.len() + looked.offs.len()));
    for idle in idle {
        // What has to wait for others need not stand ready.
        let workers = if looked.depends {
            u32::MAX
        } else {
            idle.workers
        };
        cuts.push((idle.from, Cut::Idle { workers, short }));
        cuts.push((idle.to, Cut::Idle { workers: 0, short }));
    }
    // A strand that ends where the thread goes off the CPU, or begins where it comes back, was not
    // off.
    for &(from, to) in looked.offs.iter().filter(|off| off.0 < off.1) {
        cuts.push((from.saturating_add(1), Cut::Leave));
        cuts.push((to, Cut::Return));
    }
    // What is open at a release stays as it is; there is nothing to come back from.
    for release in releases {
        let after = release.saturating_add(1);
        cuts.extend([(after, Cut::Leave), (after, Cut::Return)]);
    }
    cuts.sort_by_key(|cut| cut.0);
    cuts
}

impl Short {
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
        chunks.shortened = Some(self.about.clone());
        chunks
    }
}
