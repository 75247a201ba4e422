//! Expands a folded strand: reads its tasks again from the trace's records, which have all of them.
//!
//! A folded subtree ran on one thread and nothing else ran there meanwhile. Its records are
//! therefore those of that thread from its beginning to the strand's end. The folded record says
//! which bytes they are; they are replayed with a separate stack.

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
use crate::open::{FileKind, OpenOptions, OwnedTrace};
use workspan_dag::Error;
use workspan_dag::meta::ReadFolding;
use workspan_dag::{Dag, EndKind, NONE, PlaceId, StrandId};

/// A trace whose folded strands can be expanded. It stays mapped (or unpacked in memory, if it is
/// packed), but its pages are released after reading. In addition it takes some bytes per chunk.
#[derive(Debug)]
pub struct Expander {
    trace: OwnedTrace,
    threads: Vec<ThreadChunks>,
    /// The place of each site in the file.
    place_of: Vec<PlaceId>,
    about: ReadFolding,
}

/// A thread of the file.
#[derive(Debug)]
struct ThreadChunks {
    /// The thread's number in the file, and in the [`Dag`].
    number: u32,
    thread: u32,
    chunks: Vec<Chunk>,
}

/// The position of a chunk's records in the file, and the time from which the first one's ticks
/// count.
#[derive(Debug, Clone, Copy)]
struct Chunk {
    from: usize,
    to: usize,
    base: u64,
    /// The number of bytes of the thread's records before it.
    before: u64,
}

/// A task inside a folded strand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpandedTask {
    /// Index in [`Expansion::tasks`] of the task that created it. The first task is the folded
    /// strand's own, with [`NONE`].
    pub parent: u32,
    /// Its spawn site; [`NONE`] for the first task, whose site is not known here.
    pub site: PlaceId,
    /// The number of creates between the first task and this one.
    pub level: u32,
    /// The time of its creation, in the run's ticks.
    pub created: u64,
    /// The beginning of its first strand and the end of its last one, as far as they are inside;
    /// `u64::MAX` and 0 for a task without either.
    pub begun: u64,
    /// See `begun`.
    pub ended: u64,
}

/// A strand inside a folded strand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpandedStrand {
    /// Index in [`Expansion::tasks`].
    pub task: u32,
    /// The time at which it started, in the run's ticks.
    pub start: u64,
    /// The time at which it ended, in the run's ticks.
    pub end: u64,
    /// Its start and end in the code; [`NONE`] if not known. A task's first strand starts at its
    /// site.
    pub from: PlaceId,
    /// See `from`.
    pub to: PlaceId,
    /// What ended it.
    pub end_kind: EndKind,
    /// Index in [`Expansion::folds`] of the subtree that it stands for, if that was folded while
    /// the program was recorded; otherwise [`NONE`].
    pub fold: u32,
}

/// The contents of a folded strand, or a part of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expansion {
    /// The tasks of `strands` with all their parents. Each comes after its parent.
    pub tasks: Vec<ExpandedTask>,
    /// The strands, in order of start, without those of no length.
    pub strands: Vec<ExpandedStrand>,
    /// The subtrees that some of the strands stand for, folded while the program was recorded.
    pub folds: Vec<ExpandedFold>,
    /// Whether there are more strands than requested.
    pub cut: bool,
}

/// The whole contents of a folded strand, with the edges between its strands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WholeExpansion {
    /// The tasks in order of creation, so that each comes after its parent. The first one is the
    /// folded strand's own.
    pub tasks: Vec<ExpandedTask>,
    /// The strands in order of start. As in a [`Dag`], a strand's creates are at its end, and a
    /// strand of no length after a create is left out.
    pub strands: Vec<ExpandedStrand>,
    /// The subtrees that some of the strands stand for, folded while the program was recorded.
    pub folds: Vec<ExpandedFold>,
    /// For each task, the strand at whose end it was created; [`NONE`] for the first.
    pub creators: Vec<u32>,
    /// Pairs of a strand and a task whose end it waited for, in order of the strands.
    pub joins: Vec<(u32, u32)>,
}

impl Expander {
    /// Opens the trace at `path`, from which `dag` was read with its short subtrees folded. `None`
    /// if none were folded, or if the file is no longer that trace.
    ///
    /// # Errors
    /// The same as for [`crate::open()`]: the file cannot be read, or is damaged.
    pub fn open(path: &Path, dag: &Dag, options: &OpenOptions) -> Result<Option<Expander>, Error> {
        let Some(about) = dag.meta.read_folding.clone() else {
            return Ok(None);
        };
        let trace = OwnedTrace::open(path, options)?;
        let bytes = trace.bytes();
        if FileKind::from_bytes(bytes) != Some(FileKind::Recorded)
            || bytes.len() as u64 != about.size
        {
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

    /// The strands inside folded strand `s` of `dag` that overlap [`from`, `to`), at most `most` of
    /// them. Takes the time of reading the strand's records, and up to a chunk before them.
    pub fn expand(&self, dag: &Dag, s: StrandId, (from, to): (u64, u64), most: usize) -> Expansion {
        let origin = self.about.origin;
        let window = (from.saturating_add(origin), to.saturating_add(origin));
        let mut found = Expansion::default();
        self.each_replay(dag, s, window, most, false, |replay| {
            found = replay.finish();
            !found.strands.is_empty() || found.cut
        });
        if self.trace.shrunk() {
            // The file is not the trace that was read.
            return Expansion::default();
        }
        self.count_from_origin(&mut found.tasks, &mut found.strands);
        found
    }

    /// The whole contents of folded strand `s` of `dag`; `None` if they are more than `most`
    /// strands, or nothing. Time and memory are proportional to the strand's records.
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

    /// Replays strand `s` from each thread that it may have run on until `take` returns a result.
    /// Threads that share a number ran one after the other.
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

    /// Converts ticks of records, which are the clock's, to those of a [`Dag`], which count from
    /// its origin.
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

    /// Replays the thread's records from that position on. Returns false if there is no such
    /// record, so that the strand belongs to another thread with the same number.
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
                // Another thread with the same number may have anything there.
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
    about: &ReadFolding,
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
