//! The second pass: replays each thread's stack of tasks and builds its strands, scopes and waits.
//!
//! Threads are replayed one after the other. The strands of a task must be added in program order,
//! so a thread that goes on with a task that another thread stopped is *parked* until the stop has
//! been replayed on that other thread.

mod chunk;
mod create;
mod dependence;
mod foreign_scope_waits;
mod frame;
mod log;
mod marks;
mod migrated_stacks;
mod record;
mod restart;
mod resume;
mod sampled_joins;
mod skipped;
mod stack;
mod team;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use workspan_trace::event::{Event, Events};

use self::dependence::Siblings;
use self::frame::{Frame, Pending};
pub(super) use self::log::{PoolLog, ReplayLog, ThreadLog};
use super::chunks_by_thread::{Thread, TraceChunks};
use super::facts;
use super::places::Places;
use super::survey::{LATEST, Survey};
use workspan_dag::cancel::Checkpoint;
use workspan_dag::raw::{RawScope, RawTask, RawTrace};
use workspan_dag::{NONE, ROOT_PLACE, ScopeKind, TaskKind};

/// The state of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Created,
    Running,
    Stopped,
    Ended,
}

/// A thread in replay.
struct ReplayThread<'a> {
    stack: Vec<Frame>,
    /// Data of the open strand of the given task, which get the strand's index when it ends.
    pending: Vec<(u32, Pending)>,
    /// The current chunk and the position in it.
    chunk: usize,
    events: Option<Events<'a>>,
    /// Whether bytes that are not a record were found.
    bad: bool,
    /// A record that waits for another thread.
    parked: Option<(u64, Event<'a>)>,
    tasks: u32,
    scopes: u32,
    yields: u32,
    /// The number of member records.
    members: u32,
    now: u64,
    /// The number of sampled joins so far.
    drawn: usize,
    /// Whether a join that becomes one strand begins with the next record.
    short: bool,
    /// The number of its records that are still to come.
    within: u64,
    /// Whether its first record had the state of its stack.
    restarted: bool,
    log: ThreadLog,
}

/// The condition for which a parked thread waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ParkCondition {
    /// The task of this yield is known.
    Yielded(u32),
    /// This task has stopped again, somewhere.
    Stopped(u32),
    /// A task has made this named stop.
    Named(u32),
}

struct Replay<'a, 'r> {
    chunks: &'r TraceChunks<'a>,
    counts: &'r Survey,
    places: &'r Places,
    raw: &'r mut RawTrace,
    /// The file's tick that is 0 in the run.
    origin: u64,
    states: Vec<State>,
    /// For each yield, the task that stopped there.
    yielded: Vec<u32>,
    /// For each named stop that was made, its task and the skipped subtree that the task is in, or
    /// `NONE`.
    halted: BTreeMap<u32, (u32, u32)>,
    /// For each task, the yield after which another thread goes on with it, if that thread has not
    /// been replayed so far.
    handed: BTreeMap<u32, u32>,
    /// For each task, the threads that took it over and have not left it, the last one on top.
    holders: BTreeMap<u32, Vec<u32>>,
    parked: BTreeMap<ParkCondition, Vec<usize>>,
    ready: VecDeque<usize>,
    /// Whether no thread can go on by itself. Then the next one goes on, whatever it waits for.
    forced: bool,
    open_regions: BTreeMap<u32, Vec<usize>>,
    open_parts: BTreeMap<u32, Vec<usize>>,
    signals: BTreeMap<u64, u32>,
    set: BTreeSet<u32>,
    counters: BTreeMap<u32, usize>,
    closed: BTreeSet<u32>,
    /// For each task, its open tree scopes.
    open_trees: BTreeMap<u32, Vec<u32>>,
    /// Scopes that a task other than their opener waited for, and the wait's list of tasks.
    borrowed: Vec<(u32, usize)>,
    /// For each task, the dependences among its children.
    siblings: BTreeMap<u32, Siblings>,
    /// For each implicit task, the tasks that the chunks of its loops have created since it last
    /// waited for its children.
    of_chunks: BTreeMap<u32, Vec<u32>>,
    /// The number of dependences among siblings that may still be added.
    room: usize,
    /// Skipped subtrees; the times at which the last strand of each of their parts began and ended;
    /// and the time by which that end may be recorded late.
    subtrees: Vec<skipped::Subtree>,
    part_ends: BTreeMap<u32, (u64, u64)>,
    late: u64,
    log: ReplayLog,
}

/// The number of dependences that are allowed per record of the trace, in addition to a constant.
/// Consecutive sets of unordered tasks have as many dependences as the product of their sizes.
const DEPENDENCES_PER_RECORD: u64 = 32;
const DEPENDENCES: u64 = 1 << 24;

/// Builds the run in `raw`.
pub(super) fn replay(
    chunks: &TraceChunks<'_>,
    counts: &Survey,
    places: &Places,
    raw: &mut RawTrace,
) -> ReplayLog {
    let unborn = RawTask {
        number: 0,
        parent: NONE,
        kind: TaskKind::Root,
        site: ROOT_PLACE,
        scope: NONE,
    };
    raw.tasks = vec![unborn; counts.total()];
    for (number, task) in raw.tasks.iter_mut().enumerate() {
        task.number = number as u64;
    }
    raw.strands.reserve_exact(counts.strands);
    let scopes = counts.scopes.last().copied().unwrap_or(0);
    raw.scopes = (0..scopes)
        .map(|number| RawScope {
            number: u64::from(number),
            kind: ScopeKind::Group,
            opener: NONE,
            strand: NONE,
        })
        .collect();
    raw.scopes.reserve_exact(counts.joins);
    let mut replay = Replay {
        chunks,
        counts,
        places,
        raw,
        origin: counts.first,
        states: vec![State::Created; counts.total()],
        yielded: vec![NONE; counts.taken.len()],
        halted: BTreeMap::new(),
        handed: BTreeMap::new(),
        holders: BTreeMap::new(),
        parked: BTreeMap::new(),
        ready: (0..chunks.threads.len()).collect(),
        forced: false,
        open_regions: BTreeMap::new(),
        open_parts: BTreeMap::new(),
        signals: BTreeMap::new(),
        set: BTreeSet::new(),
        counters: BTreeMap::new(),
        closed: BTreeSet::new(),
        open_trees: BTreeMap::new(),
        borrowed: Vec::new(),
        siblings: BTreeMap::new(),
        of_chunks: BTreeMap::new(),
        room: (counts.events * DEPENDENCES_PER_RECORD + DEPENDENCES) as usize,
        subtrees: Vec::new(),
        part_ends: BTreeMap::new(),
        late: facts::late_by(&chunks.notes),
        log: ReplayLog::default(),
    };
    let mut lanes: Vec<ReplayThread<'_>> = chunks
        .threads
        .iter()
        .enumerate()
        .map(|(i, _)| ReplayThread::new(i))
        .collect();
    replay.run(&mut lanes);
    replay.sort_join_scopes();
    replay.close(&mut lanes);
    let mut log = replay.log;
    log.threads = lanes.into_iter().map(|lane| lane.log).collect();
    log
}

impl<'a> ReplayThread<'a> {
    fn new(index: usize) -> Self {
        ReplayThread {
            stack: Vec::new(),
            pending: Vec::new(),
            chunk: 0,
            events: None,
            bad: false,
            parked: None,
            tasks: 0,
            scopes: 0,
            yields: 0,
            members: 0,
            now: 0,
            drawn: 0,
            short: false,
            within: 0,
            restarted: false,
            log: ThreadLog::new(index as u32),
        }
    }

    /// The next record; after bytes that are not a record, only off-CPU times.
    fn next(&mut self, thread: &Thread<'a>) -> Option<(u64, Event<'a>)> {
        if let Some(record) = self.parked.take() {
            return Some(record);
        }
        loop {
            if self.events.is_none() {
                let chunk = thread.chunks.get(self.chunk)?;
                self.chunk += 1;
                if self.bad && !chunk.off_cpu {
                    continue;
                }
                self.events = Some(Events::new(chunk.bytes, chunk.base));
            }
            let events = self.events.as_mut()?;
            match events.next() {
                Some(record) => return Some(record),
                None => {
                    self.bad |= events.is_bad();
                    self.events = None;
                }
            }
        }
    }
}

impl<'a> Replay<'a, '_> {
    fn run(&mut self, lanes: &mut [ReplayThread<'a>]) {
        loop {
            while let Some(lane) = self.ready.pop_front() {
                self.run_lane(&mut lanes[lane], lane);
            }
            // All threads wait for others: the first one goes on as it is.
            let Some((_, waiting)) = self.parked.pop_first() else {
                return;
            };
            self.log
                .repair("Tasks that went on before they had stopped elsewhere");
            self.ready.extend(waiting);
            self.forced = true;
            if let Some(lane) = self.ready.pop_front() {
                self.run_lane(&mut lanes[lane], lane);
            }
            self.forced = false;
        }
    }

    fn run_lane(&mut self, lane: &mut ReplayThread<'a>, number: usize) {
        let mut steps = Checkpoint::default();
        while let Some((ticks, event)) = lane.next(&self.chunks.threads[number]) {
            steps.step();
            let t = (ticks - self.origin).min(LATEST);
            if self.is_within_short(lane, number, t) {
                lane.now = t;
                continue;
            }
            if let Err(until) = self.record(lane, number, t, event) {
                lane.parked = Some((ticks, event));
                self.parked.entry(until).or_default().push(number);
                return;
            }
            // Off-CPU times come after all other records, and each is recorded after it was over.
            if !matches!(event, Event::Off { .. }) {
                lane.now = t;
            }
        }
    }

    fn wake(&mut self, until: ParkCondition) {
        if !self.parked.is_empty()
            && let Some(waiting) = self.parked.remove(&until)
        {
            self.ready.extend(waiting);
        }
    }
}
