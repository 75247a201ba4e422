//! All threads' records in the order of time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use workspan_trace::event::{Event, Events};

use super::ahead::ahead;
use super::columns::State;
use super::survey::Survey;
use crate::recorded::chunks_by_thread::{Thread, TraceChunks};
use crate::recorded::places::Places;
use crate::recorded::replay::{ReplayLog, ThreadLog};
pub(super) use crate::recorded::survey::LATEST;
use workspan_dag::NONE;
use workspan_dag::build::in_order::InOrder;
use workspan_dag::cancel::Checkpoint;
use workspan_dag::raw::RawTrace;

/// A task on a thread's stack.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub task: u32,
    /// Its open strand; the last one when it stopped.
    pub strand: u32,
    /// It waits or yielded; no strand is open.
    pub stopped: bool,
    /// It stopped because another began on top of it, and goes on when that one is gone.
    pub interrupted: bool,
    /// The deferred child of its last join, until it has begun here; or [`NONE`].
    pub next: u32,
    /// The deferred child of the join it waits for, or [`NONE`].
    pub join: u32,
}

/// A thread.
pub(super) struct Lane<'a> {
    pub stack: Vec<Frame>,
    pub now: u64,
    pub told: ThreadLog,
    chunk: usize,
    events: Events<'a>,
    /// When the record comes that is next.
    head: Option<u64>,
}

impl<'a> Lane<'a> {
    fn new(slot: usize, thread: &Thread<'a>) -> Lane<'a> {
        let mut lane = Lane {
            stack: Vec::new(),
            now: 0,
            told: ThreadLog::new(slot as u32),
            chunk: 0,
            events: Events::new(&[], 0),
            head: None,
        };
        lane.advance(thread);
        lane
    }

    /// To the next record.
    #[inline]
    fn advance(&mut self, thread: &Thread<'a>) {
        self.head = self.events.peek();
        if self.head.is_none() {
            self.next_chunk(thread);
        }
    }

    #[cold]
    fn next_chunk(&mut self, thread: &Thread<'a>) {
        while let Some(chunk) = thread.chunks.get(self.chunk)
            && self.head.is_none()
        {
            self.chunk += 1;
            self.events = Events::new(chunk.bytes, chunk.base);
            self.head = self.events.peek();
        }
    }
}

/// What the walk knows besides the threads.
pub(super) struct Walk<'a, 'r> {
    pub gathered: &'r TraceChunks<'a>,
    pub places: &'r Places,
    pub raw: &'r mut RawTrace,
    pub columns: InOrder,
    /// Ticks of the file that are 0 in the run.
    pub origin: u64,
    pub states: Vec<State>,
    /// Tasks that each thread created, in order.
    pub created: Vec<Vec<u32>>,
    /// Tasks that stopped by each thread's yields, in order.
    pub yielded: Vec<Vec<u32>>,
    /// Yields that some thread takes over, ascending.
    pub taken: &'r [(u32, u64)],
    /// Tasks whose yield another thread has still to take over.
    pub handed: BTreeMap<u32, u64>,
    /// Per task: threads that took it over and have not left it, last one on top.
    pub holders: BTreeMap<u32, Vec<u32>>,
    pub told: ReplayLog,
}

/// Walks all records. The steals, off-CPU times and other events come into `raw` as they are told.
pub(super) fn walk(
    gathered: &TraceChunks<'_>,
    survey: &Survey,
    places: &Places,
    raw: &mut RawTrace,
) -> Option<(InOrder, ReplayLog)> {
    let columns = InOrder::with_capacity(survey.extent.tasks, survey.strands, survey.joins);
    ahead(columns, |columns| {
        walk_into(columns, gathered, survey, places, raw)
    })
}

fn walk_into(
    columns: InOrder,
    gathered: &TraceChunks<'_>,
    survey: &Survey,
    places: &Places,
    raw: &mut RawTrace,
) -> Option<(InOrder, ReplayLog)> {
    let room = |&tasks: &usize| Vec::with_capacity(tasks);
    let mut walk = Walk {
        gathered,
        places,
        raw,
        columns,
        origin: survey.extent.first,
        states: Vec::with_capacity(survey.extent.tasks),
        created: survey.tasks.iter().map(room).collect(),
        yielded: vec![Vec::new(); gathered.threads.len()],
        taken: &survey.taken,
        handed: BTreeMap::new(),
        holders: BTreeMap::new(),
        told: ReplayLog::default(),
    };
    let threads = gathered.threads.iter().enumerate();
    let mut lanes: Vec<Lane<'_>> = threads
        .map(|(slot, thread)| Lane::new(slot, thread))
        .collect();
    let mut heads: BinaryHeap<Reverse<(u64, usize)>> = lanes
        .iter()
        .enumerate()
        .filter_map(|(slot, lane)| Some(Reverse((lane.head?, slot))))
        .collect();
    let mut steps = Checkpoint::default();
    while let Some(Reverse((_, slot))) = heads.pop() {
        // One thread's records, up to the next one's turn.
        let turn = heads.peek().map_or((u64::MAX, usize::MAX), |head| head.0);
        let (lane, thread) = (&mut lanes[slot], &gathered.threads[slot]);
        while let Some(ticks) = lane.head {
            steps.step();
            if (ticks, slot) > turn {
                heads.push(Reverse((ticks, slot)));
                break;
            }
            let (ticks, event) = lane.events.next()?;
            let t = ticks - walk.origin;
            // Off-CPU times may be told after all else.
            if t < lane.now && !matches!(event, Event::Off { .. }) {
                return None;
            }
            walk.record(lane, slot, t, event)?;
            lane.now = lane.now.max(t);
            lane.advance(thread);
        }
    }
    let last = survey.extent.last - survey.extent.first;
    for lane in &mut lanes {
        walk.close(lane, last)?;
    }
    if walk.states.iter().any(|&state| state != State::Ended) {
        return None;
    }
    let mut told = walk.told;
    told.threads = lanes.into_iter().map(|lane| lane.told).collect();
    Some((walk.columns, told))
}

impl<'a> Walk<'a, '_> {
    /// Ends what is still open at the end of the run: a program's main task.
    fn close(&mut self, lane: &mut Lane<'a>, last: u64) -> Option<()> {
        while let Some(&frame) = lane.stack.last() {
            match self.states[frame.task as usize] {
                State::Running if !frame.stopped => {
                    self.told.open += 1;
                    self.end_strand(lane, last, workspan_dag::EndKind::End, NONE);
                    self.states[frame.task as usize] = State::Ended;
                }
                // It went on elsewhere, and ended there.
                State::Ended if frame.stopped => {}
                _ => return None,
            }
            lane.stack.pop();
        }
        Some(())
    }
}
