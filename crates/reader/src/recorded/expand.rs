//! What a folded strand stands for, task by task: read again from the trace's records, which hold
//! it all.
//!
//! A folded subtree ran on one thread and nothing else ran there meanwhile, so its records are
//! those of that thread from where it began until the strand's end. Its folded record says which
//! bytes they are; they are replayed with a stack of their own.

mod fold;
mod frame;
mod replay;
mod used_tasks;

use std::path::Path;

use workspan_trace::event::Events;

pub use self::fold::ExpandedFold;
use self::replay::Replay;
use super::chunks_by_thread::{self, Thread, TraceChunks};
use super::places;
use crate::open::{Kind, OpenOptions, OwnedTrace};
use workspan_dag::Error;
use workspan_dag::meta::Shortened;
use workspan_dag::{Dag, EndKind, NONE, PlaceId, StrandId};

/// A trace whose folded strands are looked into. It stays mapped (one that is packed, unpacked),
/// but its pages are kept only while they are read; beside that it takes some bytes a chunk.
#[derive(Debug)]
pub struct Expander {
    trace: OwnedTrace,
    threads: Vec<ThreadChunks>,
    /// Site in the file → place.
    place_of: Vec<PlaceId>,
    about: Shortened,
}

/// A thread of the file.
#[derive(Debug)]
struct ThreadChunks {
    /// Its number in the file, and in the [`Dag`].
    number: u32,
    thread: u32,
    chunks: Vec<Chunk>,
}

/// Where a chunk's records are in the file, and what the first one's ticks count from.
#[derive(Debug, Clone, Copy)]
struct Chunk {
    from: usize,
    to: usize,
    base: u64,
    /// Bytes of the thread's records before it.
    before: u64,
}

/// A task inside a folded strand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpandedTask {
    /// Index in [`Expansion::tasks`] of the task that created it; the first one is the folded
    /// strand's own task, with [`NONE`].
    pub parent: u32,
    /// Where it was created; of the first one not known here ([`NONE`]).
    pub site: PlaceId,
    /// Creates from the first one.
    pub level: u32,
    /// When it was created, in the run's ticks.
    pub created: u64,
    /// When its first strand began and its last one ended, as far as inside; of those that did
    /// neither `u64::MAX` and 0.
    pub begun: u64,
    /// See `begun`.
    pub ended: u64,
}

/// A strand inside a folded strand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpandedStrand {
    /// Index in [`Expansion::tasks`].
    pub task: u32,
    /// In the run's ticks.
    pub start: u64,
    /// See `start`.
    pub end: u64,
    /// Where it starts and ends in the code; [`NONE`] for not known. A task's first strand starts
    /// at its site.
    pub from: PlaceId,
    /// See `from`.
    pub to: PlaceId,
    /// What ended it.
    pub end_kind: EndKind,
    /// Index in [`Expansion::folds`] of what it stands for, where that was folded while the program
    /// was recorded; else [`NONE`].
    pub fold: u32,
}

/// What a folded strand stands for, or part of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expansion {
    /// The tasks of `strands` with all their parents, each behind its own.
    pub tasks: Vec<ExpandedTask>,
    /// In the order of their starts, those of no length left out.
    pub strands: Vec<ExpandedStrand>,
    /// What those of them stand for that were folded while the program was recorded.
    pub folds: Vec<ExpandedFold>,
    /// There are more than were asked for.
    pub cut: bool,
}

/// All that a folded strand stands for, with what joins it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WholeExpansion {
    /// By creation, so each behind its parent; the first one is the folded strand's own.
    pub tasks: Vec<ExpandedTask>,
    /// In the order of their starts. As in a [`Dag`], what one creates comes at its end, and one of
    /// no length after a create is left out.
    pub strands: Vec<ExpandedStrand>,
    /// What those of them stand for that were folded while the program was recorded.
    pub folds: Vec<ExpandedFold>,
    /// By task: the strand at whose end it was created; [`NONE`] for the first.
    pub creators: Vec<u32>,
    /// A strand, and a task whose end it waited for; by strand.
    pub joins: Vec<(u32, u32)>,
}

impl Expander {
    /// Of the trace at `path`, from which `dag` was read with its short subtrees folded; `None`
    /// where none were, or the file is no longer that trace.
    ///
    /// # Errors
    /// The file can't be read, or is damaged, as for [`crate::open()`].
    pub fn open(path: &Path, dag: &Dag, options: &OpenOptions) -> Result<Option<Expander>, Error> {
        let Some(about) = dag.meta.shortened.clone() else {
            return Ok(None);
        };
        let trace = OwnedTrace::open(path, options)?;
        let bytes = trace.bytes();
        if Kind::of(bytes) != Some(Kind::Recorded) || bytes.len() as u64 != about.size {
            return Ok(None);
        }
        let chunks = chunks_by_thread::read_content(trace.content(), options)?;
        let place_of = places::places(&chunks).by_site();
        let threads = chunks_of_threads(bytes, &chunks, &about);
        drop(chunks);
        trace.content().release_pages();
        Ok(Some(Expander {
            threads,
            place_of,
            about,
            trace,
        }))
    }

    /// What folded strand `s` of `dag` stands for: its strands that overlap [`from`, `to`), at most
    /// `most` of them. Time is that of reading the strand's records, and up to a chunk before them.
    pub fn expand(&self, dag: &Dag, s: StrandId, (from, to): (u64, u64), most: usize) -> Expansion {
        let origin = self.about.origin;
        let window = (from.saturating_add(origin), to.saturating_add(origin));
        let mut found = Expansion::default();
        self.each_replay(dag, s, window, most, false, |replay| {
            found = replay.finish();
            !found.strands.is_empty() || found.cut
        });
        if self.trace.shrunk() {
            // It was not the trace that was read.
            return Expansion::default();
        }
        self.count_from_origin(&mut found.tasks, &mut found.strands);
        found
    }

    /// All that folded strand `s` of `dag` stands for; `None` when that is more than `most`
    /// strands, or nothing. Time and memory are those of the strand's records.
    pub fn expand_all(&self, dag: &Dag, s: StrandId, most: usize) -> Option<WholeExpansion> {
        let mut found = None;
        self.each_replay(dag, s, (0, u64::MAX), most, true, |replay| {
            found = replay.whole();
            found.is_some()
        });
        let mut found: WholeExpansion = found.filter(|_| !self.trace.shrunk())?;
        self.count_from_origin(&mut found.tasks, &mut found.strands);
        Some(found)
    }

    /// Replays strand `s` from each thread that it may have run on until `take` has what it wants:
    /// threads that share a number came one after the other.
    fn each_replay(
        &self,
        dag: &Dag,
        s: StrandId,
        window: (u64, u64),
        most: usize,
        links: bool,
        mut take: impl FnMut(Replay<'_>) -> bool,
    ) {
        let i = s as usize;
        let Some(source) = dag.fold_of(s).and_then(|fold| fold.source) else {
            return;
        };
        let on = dag.strands.thread[i];
        let times = [dag.strands.start[i], dag.strands.end[i]];
        let [start, end] = times.map(|t| t.saturating_add(self.about.origin));
        for lane in self.threads.iter().filter(|lane| lane.thread == on) {
            let mut replay = Replay::new(lane.number, &self.place_of, (start, end), window, most);
            if links {
                replay.keep_links();
            }
            if self.replay(&mut replay, lane, source, (start, end)) && take(replay) {
                break;
            }
        }
        self.trace.content().release_pages();
    }

    /// Records' ticks are the clock's, a [`Dag`]'s count from its origin.
    fn count_from_origin(&self, tasks: &mut [ExpandedTask], strands: &mut [ExpandedStrand]) {
        let origin = self.about.origin;
        for task in tasks {
            task.created = task.created.saturating_sub(origin);
            if task.begun != u64::MAX {
                task.begun = task.begun.saturating_sub(origin);
            }
            task.ended = task.ended.saturating_sub(origin);
        }
        for strand in strands {
            strand.start = strand.start.saturating_sub(origin);
            strand.end = strand.end.saturating_sub(origin);
        }
    }

    /// Replays the records of that thread from there on; false where no such record is there, so
    /// that the strand is of another thread of the same number.
    fn replay(
        &self,
        replay: &mut Replay<'_>,
        lane: &ThreadChunks,
        (bytes, creates): (u64, u64),
        (start, end): (u64, u64),
    ) -> bool {
        let mut is_there = false;
        let first = lane.chunks.partition_point(|c| c.before <= bytes);
        let Some(first) = first.checked_sub(1) else {
            return false;
        };
        replay.name_from(creates);
        'all: for chunk in &lane.chunks[first..] {
            let records = self.trace.bytes().get(chunk.from..chunk.to);
            let records = records.unwrap_or(&[]);
            let mut events = Events::new(records, chunk.base);
            let mut at = chunk.before;
            while let Some((t, event)) = events.next() {
                let begins = at;
                at = chunk.before + events.offset() as u64;
                if begins < bytes {
                    continue;
                }
                // On another thread of the same number there may be anything.
                let is_in = (is_there || begins == bytes) && t >= start && t <= end;
                is_there |= is_in;
                if !is_in || !replay.record(t, &event) {
                    break 'all;
                }
            }
        }
        is_there
    }
}

fn chunks_of_threads(
    trace: &[u8],
    chunks: &TraceChunks<'_>,
    about: &Shortened,
) -> Vec<ThreadChunks> {
    let lane = |thread: &Thread<'_>| {
        let mut before = 0;
        let known = about.threads.iter().find(|t| t.0 == thread.number);
        ThreadChunks {
            number: thread.number,
            thread: known.map_or(NONE, |t| t.1),
            chunks: thread
                .chunks
                .iter()
                .map(|chunk| {
                    let from = (chunk.offset as usize).min(trace.len());
                    let chunk = Chunk {
                        from,
                        to: from + chunk.bytes.len(),
                        base: chunk.base,
                        before,
                    };
                    before += (chunk.to - chunk.from) as u64;
                    chunk
                })
                .collect(),
        }
    };
    chunks.threads.iter().map(lane).collect()
}
