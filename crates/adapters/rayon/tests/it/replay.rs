//! Replays a recording's threads by the rules of `wire::Kind`, and panics at every record that
//! breaks one.

use std::collections::BTreeMap;
use workspan_trace::entry::{Note, Site, SitePosition, entries};
use workspan_trace::event::{Event, Events, WaitFor};
use workspan_trace::wire::{TaskRef, create, primitive};
use workspan_trace::{ChunkKind, Tolerance, Trace};

/// A thread's chunk: its number within the thread, base time and records.
type EventChunk<'a> = (u32, u64, &'a [u8]);

/// How a task was created.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Made {
    /// The root of a thread that began by itself or was started by the program.
    Root,
    Deferred,
    Inline,
    Detached,
}

#[derive(Debug)]
pub struct Task {
    pub made: Made,
    pub parent: Option<TaskRef>,
    pub site: u32,
    pub scope: Option<TaskRef>,
    /// The threads on which it began, and the number of its ends.
    pub begun: Vec<u32>,
    pub ended: usize,
}

#[derive(Debug, Default)]
pub struct Replay {
    pub tasks: BTreeMap<TaskRef, Task>,
    pub joins: usize,
    pub next: usize,
    pub resumed_with_end: usize,
    pub yields: usize,
    pub leaves: usize,
    pub hops: usize,
    pub scopes_waited: usize,
    pub workers: usize,
    pub workers_ended: usize,
    pub pools: Vec<u64>,
    pub pools_ended: usize,
    /// (thief, victim, task, leap).
    pub steals: Vec<(u32, Option<u32>, TaskRef, bool)>,
    /// (thread, victim).
    pub missed: Vec<(u32, Option<u32>)>,
    pub sleeps: usize,
    pub event_bytes: usize,
    pub sites: BTreeMap<u32, Site>,
    pub notes: BTreeMap<String, String>,
}

/// A task on a thread's stack, by its own name or by the yield that it goes on from.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Name {
    Task(TaskRef),
    Yielded(u32, u64),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    Running,
    Waiting,
    /// In a join whose b has this name.
    Joining(TaskRef),
    Yielded,
}

impl Replay {
    /// Reads and replays the recording in `bytes`; panics at the first record in a wrong place.
    pub fn of(bytes: &[u8]) -> Replay {
        let trace = Trace::open(bytes).expect("a recording");
        let mut threads: BTreeMap<u32, Vec<EventChunk<'_>>> = BTreeMap::new();
        let mut replay = Replay::default();
        for chunk in trace.chunks(Tolerance::Strict) {
            let chunk = chunk.expect("an undamaged recording");
            match chunk.kind {
                ChunkKind::Events => threads.entry(chunk.thread).or_default().push((
                    chunk.seq,
                    chunk.base_ticks,
                    chunk.payload,
                )),
                ChunkKind::Sites => replay.sites.extend(
                    entries(chunk.payload)
                        .filter_map(Site::decode)
                        .map(|site| (site.id, site)),
                ),
                ChunkKind::Notes => {
                    replay.notes.extend(
                        entries(chunk.payload)
                            .filter_map(Note::decode)
                            .map(|note| (note.key, note.value)),
                    );
                }
                _ => {}
            }
        }
        let mut yielded = BTreeMap::new();
        let mut parents = Vec::new();
        let mut begun = Vec::new();
        for (&thread, chunks) in &mut threads {
            chunks.sort_unstable();
            let mut walk = Thread {
                number: thread,
                stack: Vec::new(),
                next_task: 0,
                next_scope: 0,
                next_yield: 0,
                last: 0,
                stolen: None,
                asleep: false,
            };
            for &(seq, base, payload) in chunks.iter() {
                replay.event_bytes += payload.len();
                let mut events = Events::new(payload, base);
                while let Some((time, event)) = events.next() {
                    assert!(
                        time >= walk.last,
                        "time goes back in thread {thread}, chunk {seq}"
                    );
                    walk.last = time;
                    let at = format!(
                        "thread {thread} chunk {seq} before {}: {event:?} on {:?}",
                        events.offset(),
                        walk.stack
                    );
                    walk.step(
                        event,
                        &mut replay,
                        &mut yielded,
                        &mut parents,
                        &mut begun,
                        &at,
                    );
                }
                assert!(
                    !events.is_bad(),
                    "thread {thread} chunk {seq}: bad bytes at {}",
                    events.offset()
                );
            }
            let left = walk.stack.iter().filter(|(name, _)| !matches!(name, Name::Task(task) if replay.tasks[task].made == Made::Root));
            assert_eq!(
                left.count(),
                0,
                "thread {thread} ends with {:?}",
                walk.stack
            );
        }
        for (task, parent) in parents {
            let parent = resolve(parent, &yielded);
            assert!(
                replay.tasks.contains_key(&parent),
                "{task:?} has an unknown parent {parent:?}"
            );
            replay.tasks.get_mut(&task).unwrap().parent = Some(parent);
        }
        for (name, thread, ended) in begun {
            let name = resolve(name, &yielded);
            let task = replay
                .tasks
                .get_mut(&name)
                .unwrap_or_else(|| panic!("{name:?} begins and nobody created it"));
            if ended {
                task.ended += 1
            } else {
                task.begun.push(thread)
            }
        }
        for (name, task) in &replay.tasks {
            assert_eq!(task.begun.len(), 1, "{name:?} {task:?}");
            assert!(
                task.ended == 1 || task.made == Made::Root,
                "{name:?} {task:?}"
            );
        }
        replay
    }

    pub fn count(&self, made: Made) -> usize {
        self.tasks.values().filter(|task| task.made == made).count()
    }

    /// file:line of the sites at which tasks were created, without folders, and the number of tasks
    /// at each.
    pub fn by_position(&self) -> BTreeMap<String, usize> {
        let mut count = BTreeMap::new();
        for task in self.tasks.values().filter(|task| task.made != Made::Root) {
            *count.entry(self.position(task.site)).or_insert(0) += 1;
        }
        count
    }

    pub fn position(&self, site: u32) -> String {
        match &self.sites[&site].position {
            SitePosition::Location { file, line, .. } => {
                format!("{}:{line}", file.rsplit('/').next().unwrap())
            }
            SitePosition::Stack { addresses, .. } => format!("stack of {}", addresses.len()),
            other => panic!("{other:?}"),
        }
    }
}

fn resolve(mut name: Name, yielded: &BTreeMap<(u32, u64), Name>) -> TaskRef {
    loop {
        match name {
            Name::Task(task) => return task,
            Name::Yielded(thread, count) => {
                name = *yielded
                    .get(&(thread, count))
                    .expect("a yield that somebody goes on from")
            }
        }
    }
}

struct Thread {
    number: u32,
    stack: Vec<(Name, State)>,
    next_task: u64,
    next_scope: u64,
    next_yield: u64,
    last: u64,
    /// The task was stolen, and begins with the next record except a yield's.
    stolen: Option<TaskRef>,
    asleep: bool,
}

impl Thread {
    #[track_caller]
    fn running(&mut self, at: &str) -> &mut (Name, State) {
        let top = self
            .stack
            .last_mut()
            .unwrap_or_else(|| panic!("no current task: {at}"));
        assert_eq!(top.1, State::Running, "{at}");
        top
    }

    fn push(&mut self, name: Name, at: &str) {
        if let Some((_, state)) = self.stack.last() {
            assert_ne!(*state, State::Running, "begins over a running task: {at}");
        }
        self.stack.push((name, State::Running));
    }

    fn task(&mut self) -> TaskRef {
        self.next_task += 1;
        (self.number, self.next_task - 1)
    }

    fn step(
        &mut self,
        event: Event<'_>,
        replay: &mut Replay,
        yielded: &mut BTreeMap<(u32, u64), Name>,
        parents: &mut Vec<(TaskRef, Name)>,
        begun: &mut Vec<(Name, u32, bool)>,
        at: &str,
    ) {
        let thread = self.number;
        if let (Some(task), false) = (self.stolen, matches!(event, Event::Yield { .. })) {
            assert_eq!(event, Event::Begin(task), "{at}");
            self.stolen = None;
        }
        assert!(!self.asleep || event == Event::Wake, "{at}");
        let mut add = |name: TaskRef, made, parent: Option<Name>, site, scope| {
            let task = Task {
                made,
                parent: None,
                site,
                scope,
                begun: Vec::new(),
                ended: 0,
            };
            assert!(
                replay.tasks.insert(name, task).is_none(),
                "{name:?} is created twice: {at}"
            );
            parents.extend(parent.map(|parent| (name, parent)));
        };
        match event {
            Event::Root => {
                assert!(self.stack.is_empty(), "{at}");
                let name = self.task();
                add(name, Made::Root, None, 0, None);
                begun.push((Name::Task(name), thread, false));
                self.push(Name::Task(name), at);
            }
            Event::Begin(name) => {
                begun.push((Name::Task(name), thread, false));
                self.push(Name::Task(name), at);
            }
            Event::End | Event::EndResume => {
                let name = self.running(at).0;
                begun.push((name, thread, true));
                self.stack.pop();
                if event == Event::EndResume {
                    let below = self
                        .stack
                        .last_mut()
                        .unwrap_or_else(|| panic!("nothing below: {at}"));
                    assert!(matches!(below.1, State::Joining(_)), "{at}");
                    below.1 = State::Running;
                    replay.resumed_with_end += 1;
                }
            }
            Event::Join { site } => {
                let (b, a) = (self.task(), self.task());
                let top = self.running(at);
                let parent = top.0;
                top.1 = State::Joining(b);
                add(b, Made::Deferred, Some(parent), site, None);
                add(a, Made::Inline, Some(parent), site, None);
                begun.push((Name::Task(a), thread, false));
                self.push(Name::Task(a), at);
                replay.joins += 1;
            }
            Event::Next => {
                let Some(&(_, State::Joining(b))) = self.stack.last() else {
                    panic!("{at}")
                };
                begun.push((Name::Task(b), thread, false));
                self.push(Name::Task(b), at);
                replay.next += 1;
            }
            Event::Create { kind, site, scope } => {
                let parent = self.running(at).0;
                let primitive = replay.sites.get(&site).map(|site| site.primitive);
                if primitive == Some(primitive::THREAD) {
                    assert_eq!(kind & create::KIND, create::DETACHED, "{at}");
                    let name = self.task();
                    add(name, Made::Root, None, site, None);
                    return;
                }
                let made = match kind & create::KIND {
                    create::DEFERRED => Made::Deferred,
                    create::INLINE => Made::Inline,
                    create::DETACHED => Made::Detached,
                    _ => panic!("{at}"),
                };
                assert_eq!(scope.is_none(), made == Made::Detached, "{at}");
                let name = self.task();
                add(name, made, Some(parent), site, scope);
            }
            Event::Scope { tree } => {
                assert!(!tree, "{at}");
                self.running(at);
                self.next_scope += 1;
            }
            Event::Wait { site, what } => {
                assert!(site.is_some(), "{at}");
                // It waits for a thread.
                if matches!(what, WaitFor::Tasks(_)) {
                    self.running(at).1 = State::Waiting;
                    return;
                }
                let WaitFor::Scope(opener, count) = what else {
                    panic!("{at}")
                };
                assert!(opener == thread && count < self.next_scope, "{at}");
                self.running(at).1 = State::Waiting;
                replay.scopes_waited += 1;
            }
            Event::Resume => {
                let top = self
                    .stack
                    .last_mut()
                    .unwrap_or_else(|| panic!("no current task: {at}"));
                assert_ne!(top.1, State::Running, "{at}");
                top.1 = State::Running;
            }
            Event::Yield { site } | Event::Leave { site } => {
                assert!(site.is_some(), "{at}");
                let top = self.running(at);
                let name = top.0;
                top.1 = State::Yielded;
                yielded.insert((thread, self.next_yield), name);
                self.next_yield += 1;
                replay.yields += 1;
                if matches!(event, Event::Leave { .. }) {
                    self.stack.pop();
                    replay.leaves += 1;
                }
            }
            Event::ResumeYielded { thread, count } => {
                self.push(Name::Yielded(thread, count), at);
                replay.hops += 1;
            }
            Event::Worker { .. } => replay.workers += 1,
            Event::WorkerEnd => replay.workers_ended += 1,
            Event::Pool { size, .. } => replay.pools.push(size),
            Event::PoolEnd { .. } => replay.pools_ended += 1,
            Event::Steal { victim, leap, task } => {
                assert_ne!(victim, Some(thread), "{at}");
                assert_eq!(
                    leap,
                    self.stack
                        .last()
                        .is_some_and(|top| matches!(top.1, State::Waiting | State::Joining(_))),
                    "{at}"
                );
                replay.steals.push((thread, victim, task, leap));
                self.stolen = Some(task);
            }
            Event::StealFailed { victim } => {
                assert_ne!(victim, Some(thread), "{at}");
                replay.missed.push((thread, victim));
            }
            Event::Sleep => {
                self.asleep = true;
                replay.sleeps += 1;
            }
            Event::Wake => {
                assert!(self.asleep, "{at}");
                self.asleep = false;
            }
            other => panic!("Rayon's stand-in writes no {other:?}"),
        }
    }
}
