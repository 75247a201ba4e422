//! The second walk: each thread's stack of tasks, and the strands, scopes and waits it tells of.
//!
//! Threads are replayed one after the other. Strands of one task must be told in program order, so a thread that goes on
//! with a task another thread stopped is *parked* until that other thread has told of the stop.

mod frame;
mod told;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use workspan_trace::event::{Event, Events, References, WaitFor};
use workspan_trace::wire::create;

use self::frame::{Frame, Pending};
pub(super) use self::told::{ThreadTold, Told};
use super::count::{Counts, LATEST, end_of, slot};
use super::gather::{Gathered, Thread};
use super::places::Places;
use crate::dag::{NONE, Off, OffWhy, ROOT_PLACE, ScopeKind, Steal, TaskKind, ThreadEvent};
use crate::raw::{RawEnd, RawRegion, RawScope, RawStrand, RawTask, RawTrace};

/// Regions and parts a task may have open at once.
const DEEPEST: usize = 1000;

/// Where a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Created,
    Running,
    Stopped,
    Ended,
}

/// A thread in replay.
struct Lane<'a> {
    stack: Vec<Frame>,
    /// Things told of the strand that is open, of the task named: they get its index when it ends.
    pending: Vec<(u32, Pending)>,
    /// Chunk and position in it.
    chunk: usize,
    events: Option<Events<'a>>,
    /// A record that waits for another thread.
    parked: Option<(u64, Event<'a>)>,
    tasks: u32,
    scopes: u32,
    yields: u32,
    now: u64,
    told: ThreadTold,
}

/// What a parked thread waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Until {
    /// The task of this yield is known.
    Yielded(u32),
    /// This task stopped again, somewhere.
    Stopped(u32),
}

struct Replay<'a, 'r> {
    gathered: &'r Gathered<'a>,
    counts: &'r Counts,
    places: &'r Places,
    raw: &'r mut RawTrace,
    /// Ticks of the file that are 0 in the run.
    origin: u64,
    end: u64,
    states: Vec<State>,
    /// Per yield: the task that stopped there.
    yielded: Vec<u32>,
    /// Per task: the yield after which another thread goes on with it, but has not told so yet.
    handed: BTreeMap<u32, u32>,
    /// Per task: threads that took it over and have not left it, last one on top.
    holders: BTreeMap<u32, Vec<u32>>,
    parked: BTreeMap<Until, Vec<usize>>,
    ready: VecDeque<usize>,
    /// No thread can go on by itself: the next one does, whatever it waits for.
    forced: bool,
    open_regions: BTreeMap<u32, Vec<usize>>,
    open_parts: BTreeMap<u32, Vec<usize>>,
    signals: BTreeMap<u64, u32>,
    set: BTreeSet<u32>,
    counters: BTreeMap<u32, usize>,
    closed: BTreeSet<u32>,
    told: Told,
}

/// Tells the run into `raw`.
pub(super) fn replay(
    gathered: &Gathered<'_>,
    counts: &Counts,
    places: &Places,
    raw: &mut RawTrace,
) -> Told {
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
    let mut replay = Replay {
        gathered,
        counts,
        places,
        raw,
        origin: counts.first,
        end: end_of(gathered),
        states: vec![State::Created; counts.total()],
        yielded: vec![NONE; counts.taken.len()],
        handed: BTreeMap::new(),
        holders: BTreeMap::new(),
        parked: BTreeMap::new(),
        ready: (0..gathered.threads.len()).collect(),
        forced: false,
        open_regions: BTreeMap::new(),
        open_parts: BTreeMap::new(),
        signals: BTreeMap::new(),
        set: BTreeSet::new(),
        counters: BTreeMap::new(),
        closed: BTreeSet::new(),
        told: Told::default(),
    };
    let mut lanes: Vec<Lane<'_>> = gathered
        .threads
        .iter()
        .enumerate()
        .map(|(i, _)| Lane::new(i))
        .collect();
    replay.run(&mut lanes);
    replay.close(&mut lanes);
    let mut told = replay.told;
    told.threads = lanes.into_iter().map(|lane| lane.told).collect();
    told
}

impl<'a> Lane<'a> {
    fn new(index: usize) -> Self {
        Lane {
            stack: Vec::new(),
            pending: Vec::new(),
            chunk: 0,
            events: None,
            parked: None,
            tasks: 0,
            scopes: 0,
            yields: 0,
            now: 0,
            told: ThreadTold::new(index as u32),
        }
    }

    /// The next record.
    fn next(&mut self, thread: &Thread<'a>, end: u64) -> Option<(u64, Event<'a>)> {
        if let Some(record) = self.parked.take() {
            return Some(record);
        }
        loop {
            if self.events.is_none() {
                let chunk = thread.chunks.get(self.chunk)?;
                self.chunk += 1;
                self.events = Some(Events::new(chunk.bytes, chunk.base));
            }
            let events = self.events.as_mut()?;
            match events.next() {
                Some((t, _)) if t > end => return None,
                Some(record) => return Some(record),
                None if events.is_bad() => return None,
                None => self.events = None,
            }
        }
    }
}

impl<'a> Replay<'a, '_> {
    fn run(&mut self, lanes: &mut [Lane<'a>]) {
        loop {
            while let Some(lane) = self.ready.pop_front() {
                self.run_lane(&mut lanes[lane], lane);
            }
            // Everybody waits for somebody: the first one goes on as it is.
            let Some((_, waiting)) = self.parked.pop_first() else {
                return;
            };
            self.told
                .repair("Tasks that went on before they had stopped elsewhere");
            self.ready.extend(waiting);
            self.forced = true;
            if let Some(lane) = self.ready.pop_front() {
                self.run_lane(&mut lanes[lane], lane);
            }
            self.forced = false;
        }
    }

    fn run_lane(&mut self, lane: &mut Lane<'a>, number: usize) {
        while let Some((ticks, event)) = lane.next(&self.gathered.threads[number], self.end) {
            let t = (ticks - self.origin).min(LATEST);
            if let Err(until) = self.record(lane, number, t, event) {
                lane.parked = Some((ticks, event));
                self.parked.entry(until).or_default().push(number);
                return;
            }
            lane.now = t;
        }
    }

    fn wake(&mut self, until: Until) {
        if !self.parked.is_empty()
            && let Some(waiting) = self.parked.remove(&until)
        {
            self.ready.extend(waiting);
        }
    }

    /// One record. `Err`: the thread has to wait, and the record comes again.
    fn record(
        &mut self,
        lane: &mut Lane<'a>,
        number: usize,
        t: u64,
        event: Event<'a>,
    ) -> Result<(), Until> {
        match event {
            Event::Join { site } => self.join(lane, number, t, site),
            Event::End => self.end_task(lane, t),
            Event::Next => match lane.stack.last_mut().and_then(|top| top.next.take()) {
                Some(task) => self.begin(lane, Some(task), lane.now),
                None => self.begin(lane, None, lane.now),
            },
            Event::EndResume => {
                self.end_task(lane, t);
                // What waits below on this stack goes on here; the record must not come twice.
                if self.resume(lane, t).is_err() {
                    self.told
                        .repair("Tasks said to go on that had ended or ran elsewhere");
                }
            }
            Event::Begin(name) => {
                let task = self.counts.task(&self.gathered.threads, name);
                self.begin(lane, task, t);
            }
            Event::Resume => self.resume(lane, t)?,
            Event::Root => self.root(lane, number, t),
            Event::Create { kind, site, scope } => self.create(lane, number, t, kind, site, scope),
            Event::Scope { tree } => self.scope(lane, number, t, tree),
            Event::Wait { site, what } => self.wait(lane, t, site, what),
            Event::Yield { site } => self.stop(lane, number, t, site, false),
            Event::Leave { site } => self.stop(lane, number, t, site, true),
            Event::ResumeYielded { thread, count } => {
                self.resume_yielded(lane, t, (thread, count))?
            }
            Event::Signal { site, id } => {
                let op = self.signal(id);
                if let Some(frame) = self.current(lane, t) {
                    let at = self.places.of_optional(site);
                    self.strand(lane, frame, t, op, at);
                }
            }
            Event::Depend { task, on } => {
                let threads = &self.gathered.threads;
                match (
                    self.counts.task(threads, task),
                    self.counts.task(threads, on),
                ) {
                    (Some(task), Some(on)) => self.raw.depends.push((task, on)),
                    _ => self
                        .told
                        .repair("Dependences on tasks that are not in the trace, left out"),
                }
            }
            Event::RegionBegin { label, tree } => self.open(lane, t, label, tree, false),
            Event::PartBegin { label } => self.open(lane, t, label, true, true),
            Event::RegionEnd { label } => self.shut(lane, t, label, false),
            Event::PartEnd { label } => self.shut(lane, t, label, true),
            Event::Counter { label, value } => {
                if let Some(frame) = self.current(lane, t) {
                    self.pend(lane, frame, Pending::Counter(label, value));
                }
            }
            Event::Folded(bytes) => match workspan_trace::folded::FoldedRecord::decode(bytes) {
                Some(record) => {
                    if let Some(frame) = self.current(lane, t) {
                        let folded = told::folded(record, self.places);
                        self.pend(lane, frame, Pending::Folded(Box::new(folded)));
                    }
                }
                None => self
                    .told
                    .repair("Folded subtrees that could not be read, left out"),
            },
            Event::Steal { victim, leap, task } => {
                let task = self
                    .counts
                    .task(&self.gathered.threads, task)
                    .unwrap_or(NONE);
                let victim = self.thread(victim);
                self.raw.steals.push(Steal {
                    t,
                    thief: lane.told.index,
                    victim,
                    task,
                    leap,
                });
            }
            Event::StealFailed { victim } => {
                let victim = self.thread(victim);
                self.thread_event(lane, t, ThreadEvent::StealFailed(victim));
            }
            Event::Sleep => self.thread_event(lane, t, ThreadEvent::Sleep),
            Event::Wake => self.thread_event(lane, t, ThreadEvent::Wake),
            Event::Worker { pool, .. } => lane.told.worker_begins(pool, t),
            Event::WorkerEnd => lane.told.worker_ends(t),
            Event::Pool { pool, size } => self.told.pool_begins(pool, size, t),
            Event::PoolEnd { pool } => self.told.pool_ends(pool, t),
            Event::Off { blocked, ticks } => {
                let why = if blocked {
                    OffWhy::Blocked
                } else {
                    OffWhy::Preempted
                };
                let start = t.saturating_sub(ticks);
                self.raw.offs.push(Off {
                    thread: lane.told.index,
                    start,
                    end: t,
                    why,
                    on: None,
                });
            }
        }
        Ok(())
    }

    fn thread_event(&mut self, lane: &Lane<'a>, t: u64, what: ThreadEvent) {
        self.raw.thread_events.push((t, lane.told.index, what));
    }

    /// A thread named by a record.
    fn thread(&self, number: Option<u32>) -> u32 {
        let slot = number.and_then(|number| slot(&self.gathered.threads, number));
        slot.map_or(NONE, |slot| slot as u32)
    }

    /// Index of the frame of the task that runs on this thread. A task interrupted by one that began on top of it goes on;
    /// a thread without a task that is no worker gets a root.
    fn current(&mut self, lane: &mut Lane<'a>, t: u64) -> Option<usize> {
        let Some(top) = lane.stack.last_mut() else {
            if lane.told.is_worker() {
                self.told
                    .repair("Records of a worker that ran no task, left out");
                return None;
            }
            self.begin(lane, None, t);
            return Some(lane.stack.len() - 1);
        };
        if top.stopped {
            if !top.interrupted {
                self.told.repair("Tasks that went on without saying so");
            }
            if self.states[top.task as usize] == State::Stopped {
                (top.stopped, top.interrupted, top.start) = (false, false, t);
                self.states[top.task as usize] = State::Running;
            } else {
                // It went on elsewhere; what happens here is somebody else's.
                self.begin(lane, None, t);
            }
        }
        Some(lane.stack.len() - 1)
    }

    /// Ends the open strand of a frame, and begins the next at the same tick.
    fn strand(
        &mut self,
        lane: &mut Lane<'a>,
        frame: usize,
        t: u64,
        end_op: RawEnd,
        at: u32,
    ) -> u32 {
        let frame = &mut lane.stack[frame];
        let index = self.raw.strands.len() as u32;
        let end = t.max(frame.start);
        let mut strand = RawStrand {
            task: frame.task,
            thread: lane.told.index,
            start: frame.start,
            end,
            end_op,
            at,
            keep: false,
        };
        if frame.pending {
            frame.pending = false;
            strand.keep = self.settle(&mut lane.pending, frame.task, index);
        }
        lane.told.busy(frame.start, end);
        frame.start = end;
        self.raw.strands.push(strand);
        index
    }

    fn join(&mut self, lane: &mut Lane<'a>, number: usize, t: u64, site: u32) {
        let first = lane.tasks;
        lane.tasks += 2;
        let Some(frame) = self.current(lane, t) else {
            return;
        };
        let (parent, base) = (lane.stack[frame].task, self.counts.tasks[number]);
        let (deferred, inline) = (self.nth(base + first), self.nth(base + first + 1));
        let place = self.places.of(site);
        let scope = self.raw.scopes.len() as u32;
        let strand = self.strand(lane, frame, t, RawEnd::Create(deferred), place);
        self.strand(lane, frame, t, RawEnd::Create(inline), place);
        self.strand(lane, frame, t, RawEnd::WaitScope(scope), place);
        self.raw.scopes.push(RawScope {
            number: u64::from(scope),
            kind: ScopeKind::Group,
            opener: parent,
            strand,
        });
        for (task, kind) in [(deferred, TaskKind::Deferred), (inline, TaskKind::Inline)] {
            let task = &mut self.raw.tasks[task as usize];
            (task.parent, task.kind, task.site, task.scope) = (parent, kind, place, scope);
        }
        self.states[parent as usize] = State::Stopped;
        let top = &mut lane.stack[frame];
        (top.stopped, top.next) = (true, Some(deferred));
        self.begin(lane, Some(inline), t);
    }

    /// The task at this place of the list by thread and count.
    fn nth(&self, at: u32) -> u32 {
        self.counts.index[at as usize]
    }

    /// Begins a task on top of the stack; `None` for one that can't be known, which becomes a root.
    fn begin(&mut self, lane: &mut Lane<'a>, task: Option<u32>, t: u64) {
        let task = match task {
            Some(task) if self.states[task as usize] == State::Created => task,
            other => {
                self.told.repair(match other {
                    Some(_) => "Tasks that began twice, made roots",
                    None => "Tasks that nobody in the trace created, made roots",
                });
                let number = self.raw.tasks.len() as u64;
                self.raw.tasks.push(RawTask {
                    number,
                    parent: NONE,
                    kind: TaskKind::Root,
                    site: ROOT_PLACE,
                    scope: NONE,
                });
                self.states.push(State::Created);
                number as u32
            }
        };
        if let Some(top) = lane.stack.last_mut()
            && !top.stopped
        {
            let frame = lane.stack.len() - 1;
            self.interrupt(lane, frame, t);
        }
        self.states[task as usize] = State::Running;
        lane.stack.push(Frame::new(task, t));
    }

    /// The running task of a frame stops because another begins on top of it.
    fn interrupt(&mut self, lane: &mut Lane<'a>, frame: usize, t: u64) {
        self.strand(lane, frame, t, RawEnd::Yield, NONE);
        let frame = &mut lane.stack[frame];
        (frame.stopped, frame.interrupted) = (true, true);
        self.states[frame.task as usize] = State::Stopped;
    }

    fn end_task(&mut self, lane: &mut Lane<'a>, t: u64) {
        let Some(frame) = self.current(lane, t) else {
            return;
        };
        let task = lane.stack[frame].task;
        let last = self.strand(lane, frame, t, RawEnd::End, NONE);
        self.states[task as usize] = State::Ended;
        self.shut_all(task, last, t);
        lane.stack.pop();
        if let Some(below) = lane.stack.last_mut()
            && below.interrupted
            && self.states[below.task as usize] == State::Stopped
        {
            (below.stopped, below.interrupted, below.start) = (false, false, t);
            self.states[below.task as usize] = State::Running;
        }
    }

    /// The task on top goes on after a wait or a yield.
    fn resume(&mut self, lane: &mut Lane<'a>, t: u64) -> Result<(), Until> {
        let Some(top) = lane.stack.last_mut().filter(|top| top.stopped) else {
            self.told.repair("Tasks said to go on that had not stopped");
            return Ok(());
        };
        let task = top.task;
        // It may have gone on elsewhere meanwhile; then it must have stopped there first.
        let holder = self.holders.get(&task).and_then(|threads| threads.last());
        let elsewhere = self.handed.contains_key(&task)
            || self.states[task as usize] != State::Stopped
            || holder.is_some_and(|&thread| thread != lane.told.index);
        if elsewhere
            && self.states[task as usize] != State::Ended
            && !std::mem::take(&mut self.forced)
        {
            return Err(Until::Stopped(task));
        }
        if self.states[task as usize] == State::Stopped {
            (top.stopped, top.interrupted, top.start) = (false, false, t);
            self.states[task as usize] = State::Running;
        } else {
            self.told
                .repair("Tasks said to go on that had ended or ran elsewhere");
        }
        Ok(())
    }

    fn stop(&mut self, lane: &mut Lane<'a>, number: usize, t: u64, site: Option<u32>, leave: bool) {
        let at = self.counts.yields[number] + lane.yields;
        lane.yields += 1;
        let Some(frame) = self.current(lane, t) else {
            return;
        };
        let place = self.places.of_optional(site);
        self.strand(lane, frame, t, RawEnd::Yield, place);
        let task = lane.stack[frame].task;
        self.states[task as usize] = State::Stopped;
        self.yielded[at as usize] = task;
        let handed = self.counts.taken[at as usize];
        if handed {
            self.handed.insert(task, at);
        }
        if leave {
            if let Some(threads) = self.holders.get_mut(&task)
                && threads.last() == Some(&lane.told.index)
            {
                threads.pop();
                if threads.is_empty() {
                    self.holders.remove(&task);
                }
            }
            lane.stack.pop();
            if let Some(below) = lane.stack.last_mut()
                && below.interrupted
                && self.states[below.task as usize] == State::Stopped
            {
                (below.stopped, below.interrupted, below.start) = (false, false, t);
                self.states[below.task as usize] = State::Running;
            }
        } else {
            lane.stack[frame].stopped = true;
        }
        self.wake(Until::Yielded(at));
        if !handed {
            self.wake(Until::Stopped(task));
        }
    }

    fn resume_yielded(
        &mut self,
        lane: &mut Lane<'a>,
        t: u64,
        name: (u32, u64),
    ) -> Result<(), Until> {
        let known = self
            .counts
            .resolve(&self.gathered.threads, &self.counts.yields, name);
        let task = match known {
            Some(at) if self.yielded[at as usize] == NONE && !std::mem::take(&mut self.forced) => {
                return Err(Until::Yielded(at));
            }
            Some(at) => self.yielded[at as usize],
            None => NONE,
        };
        if task == NONE || self.states[task as usize] != State::Stopped {
            self.begin(lane, None, t);
            return Ok(());
        }
        self.handed.remove(&task);
        self.holders.entry(task).or_default().push(lane.told.index);
        if let Some(top) = lane.stack.last()
            && !top.stopped
        {
            let frame = lane.stack.len() - 1;
            self.interrupt(lane, frame, t);
        }
        self.states[task as usize] = State::Running;
        lane.stack.push(Frame::new(task, t));
        Ok(())
    }

    fn root(&mut self, lane: &mut Lane<'a>, number: usize, t: u64) {
        let task = self.nth(self.counts.tasks[number] + lane.tasks);
        lane.tasks += 1;
        if lane.stack.is_empty() {
            self.begin(lane, Some(task), t);
        } else {
            // At the bottom, below what runs.
            let mut frame = Frame::new(task, t);
            (frame.stopped, frame.interrupted) = (true, true);
            let strand = RawStrand {
                task,
                thread: lane.told.index,
                start: t,
                end: t,
                end_op: RawEnd::Yield,
                at: NONE,
                keep: false,
            };
            self.raw.strands.push(strand);
            self.states[task as usize] = State::Stopped;
            lane.stack.insert(0, frame);
        }
    }

    fn create(
        &mut self,
        lane: &mut Lane<'a>,
        number: usize,
        t: u64,
        kind: u64,
        site: u32,
        scope: Option<(u32, u64)>,
    ) {
        let task = self.nth(self.counts.tasks[number] + lane.tasks);
        lane.tasks += 1;
        let Some(frame) = self.current(lane, t) else {
            return;
        };
        let place = self.places.of(site);
        let parent = lane.stack[frame].task;
        self.strand(lane, frame, t, RawEnd::Create(task), place);
        let scope = match scope {
            None => NONE,
            Some(name) => {
                let known = self
                    .counts
                    .resolve(&self.gathered.threads, &self.counts.scopes, name);
                if known.is_none() {
                    self.told
                        .repair("Tasks created into scopes that are not in the trace");
                }
                known.unwrap_or(NONE)
            }
        };
        let kind = match kind {
            create::INLINE => TaskKind::Inline,
            create::DETACHED => TaskKind::Detached,
            _ => TaskKind::Deferred,
        };
        let created = &mut self.raw.tasks[task as usize];
        (created.parent, created.kind, created.site, created.scope) = (parent, kind, place, scope);
    }

    fn scope(&mut self, lane: &mut Lane<'a>, number: usize, t: u64, tree: bool) {
        let scope = self.counts.scopes[number] + lane.scopes;
        lane.scopes += 1;
        let Some(frame) = self.current(lane, t) else {
            return;
        };
        let task = lane.stack[frame].task;
        let raw = &mut self.raw.scopes[scope as usize];
        raw.opener = task;
        raw.kind = if tree {
            ScopeKind::Tree
        } else {
            ScopeKind::Group
        };
        self.pend(lane, frame, Pending::Scope(scope));
    }

    fn wait(&mut self, lane: &mut Lane<'a>, t: u64, site: Option<u32>, what: WaitFor<'a>) {
        let Some(frame) = self.current(lane, t) else {
            return;
        };
        let task = lane.stack[frame].task;
        let op = match what {
            WaitFor::Children => RawEnd::WaitChildren,
            WaitFor::Scope(thread, seq) => {
                let scope =
                    self.counts
                        .resolve(&self.gathered.threads, &self.counts.scopes, (thread, seq));
                let own = scope.filter(|&s| {
                    self.raw.scopes[s as usize].opener == task && self.closed.insert(s)
                });
                match own {
                    Some(scope) => RawEnd::WaitScope(scope),
                    None => {
                        self.told
                            .repair("Waits for scopes that the task has not open, left out");
                        self.wait_tasks(None)
                    }
                }
            }
            WaitFor::Tasks(list) => self.wait_tasks(Some(list)),
            WaitFor::Signals(list) => {
                let numbers: Vec<u32> = list.iter().map(|(_, id)| self.signal_index(id)).collect();
                self.raw.wait_signals.push(numbers);
                RawEnd::WaitSignals(self.raw.wait_signals.len() as u32 - 1)
            }
        };
        let place = self.places.of_optional(site);
        self.strand(lane, frame, t, op, place);
        lane.stack[frame].stopped = true;
        self.states[task as usize] = State::Stopped;
    }

    fn wait_tasks(&mut self, list: Option<References<'a>>) -> RawEnd {
        let mut tasks = Vec::new();
        for name in list.iter().flat_map(References::iter) {
            match self.counts.task(&self.gathered.threads, name) {
                Some(task) => tasks.push(task),
                None => self
                    .told
                    .repair("Waits for tasks that are not in the trace, left out"),
            }
        }
        self.raw.wait_tasks.push(tasks);
        RawEnd::WaitTasks(self.raw.wait_tasks.len() as u32 - 1)
    }

    fn signal_index(&mut self, id: u64) -> u32 {
        *self.signals.entry(id).or_insert_with(|| {
            self.raw.signals.push(id);
            self.raw.signals.len() as u32 - 1
        })
    }

    fn signal(&mut self, id: u64) -> RawEnd {
        let index = self.signal_index(id);
        if self.set.insert(index) {
            RawEnd::Signal(index)
        } else {
            self.told.repair("Signals set twice; the first time counts");
            RawEnd::Yield
        }
    }

    fn open(&mut self, lane: &mut Lane<'a>, t: u64, label: u32, tree: bool, part: bool) {
        let label = if (label as usize) < self.gathered.labels.len() {
            label
        } else {
            NONE
        };
        let Some(frame) = self.current(lane, t).filter(|_| label != NONE) else {
            return;
        };
        let task = lane.stack[frame].task;
        let depth = if part {
            &self.open_parts
        } else {
            &self.open_regions
        };
        if depth.get(&task).is_some_and(|open| open.len() >= DEEPEST) {
            self.told
                .repair("Regions and parts nested more than a thousand deep, left out");
            return;
        }
        let region = RawRegion {
            label,
            task,
            tree,
            begin: (NONE, t),
            end: (NONE, t),
        };
        let (list, open) = match part {
            false => (&mut self.raw.regions, &mut self.open_regions),
            true => (&mut self.raw.parts, &mut self.open_parts),
        };
        open.entry(task).or_default().push(list.len());
        let index = list.len();
        list.push(region);
        self.pend(lane, frame, Pending::Open { part, index });
    }

    fn shut(&mut self, lane: &mut Lane<'a>, t: u64, label: u32, part: bool) {
        let Some(frame) = self.current(lane, t) else {
            return;
        };
        let task = lane.stack[frame].task;
        let (list, open) = match part {
            false => (&mut self.raw.regions, &mut self.open_regions),
            true => (&mut self.raw.parts, &mut self.open_parts),
        };
        let of_task = open.get_mut(&task);
        let found = of_task.and_then(|open| {
            let at = open.iter().rposition(|&index| list[index].label == label)?;
            Some(open.remove(at))
        });
        match found {
            Some(index) => {
                list[index].end.1 = t;
                self.pend(lane, frame, Pending::Shut { part, index });
            }
            None => self
                .told
                .repair("Regions and parts closed that were not open"),
        }
    }

    /// A task's end closes what it left open.
    fn shut_all(&mut self, task: u32, last: u32, t: u64) {
        for (open, list) in [
            (&mut self.open_regions, &mut self.raw.regions),
            (&mut self.open_parts, &mut self.raw.parts),
        ] {
            if !open.is_empty() {
                for index in open.remove(&task).unwrap_or_default() {
                    list[index].end = (last, t);
                }
            }
        }
    }
}
