//! Measures a sampled task from its records: the tasks that it creates and runs on its own thread
//! until it ends.
//!
//! Like [`super::join_sampler`], for tasks that are created and waited for. Tasks that have not
//! begun when the measured task ends run later, as tasks of their own, sampled or not, as they
//! would without recording. A wait for a task that another thread has taken invalidates the
//! measurement.

use std::collections::BTreeMap;

use workspan_trace::event::{Event, WaitFor};
use workspan_trace::wire::TaskRef;

use super::sample::{MAX_DEPTH, MAX_TASKS, Node, Paths, Sample, State};

/// A task that runs or waits.
#[derive(Debug, Default)]
struct Frame {
    site: u32,
    begun: u64,
    /// The thread's create count when it began.
    first: u64,
    /// The start of its open strand.
    start: u64,
    waits: bool,
    what: AwaitedTasks,
    /// The weight of its own strands.
    own: u64,
    /// The path to its current position.
    here: Paths,
    /// How it was created.
    created: PendingTask,
    /// The best path through ended children that no wait has joined yet, and through the tasks that
    /// those left behind.
    children: Option<Paths>,
    left: Option<Paths>,
    /// The best path through ended members of each group that has not been waited for.
    members: BTreeMap<TaskRef, Paths>,
    /// The number of children that have not ended.
    open: u64,
    /// Everything inside that has ended, except for its paths.
    inner: Node,
}

/// The tasks that a task waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum AwaitedTasks {
    #[default]
    Children,
    /// All tasks that it has created, and those that they left behind.
    All,
    /// The tasks created into this group, by any task.
    Group(TaskRef),
}

/// A task that was created and has not begun.
#[derive(Debug, Clone, Copy, Default)]
struct PendingTask {
    site: u32,
    /// The path to its creation in its creator, or, if the creator has ended and `left` it, in the
    /// task below.
    at: Paths,
    left: bool,
    /// The group that it was created into.
    group: Option<TaskRef>,
}

/// A task that is being measured.
#[derive(Debug)]
pub(super) struct TaskSampler {
    /// The frames, from the measured task upwards.
    frames: Vec<Frame>,
    created: BTreeMap<u64, PendingTask>,
    /// The number of members that have not ended, by group.
    groups: BTreeMap<TaskRef, u64>,
    thread: u32,
    /// The thread's create count.
    count: u64,
    sample: Sample,
    probe: u64,
    last: u64,
    tasks: usize,
    records: u64,
}

/// The largest number of tasks that have not begun when a measured task ends. With more, it is not
/// measured.
const MAX_LEFT_TASKS: usize = 1 << 10;

fn add(members: &mut BTreeMap<TaskRef, Paths>, group: TaskRef, paths: Paths) {
    let known = members.entry(group).or_insert(paths);
    *known = known.or(paths);
}

fn better(known: Option<Paths>, other: Paths) -> Option<Paths> {
    Some(known.map_or(other, |known| known.or(other)))
}

impl TaskSampler {
    /// For the task on that thread which began with its last record, at time `t`, before the
    /// thread's `count`-th create.
    pub(super) fn new(sample: Sample, probe: u64, (thread, count): TaskRef, t: u64) -> TaskSampler {
        let frame = Frame {
            site: sample.site,
            begun: t,
            first: count,
            start: t,
            ..Frame::default()
        };
        TaskSampler {
            frames: vec![frame],
            created: BTreeMap::new(),
            groups: BTreeMap::new(),
            thread,
            count,
            sample,
            probe,
            last: t,
            tasks: 0,
            records: 0,
        }
    }

    /// Handles the next record of its thread.
    pub(super) fn event(&mut self, t: u64, event: &Event<'_>) -> State {
        let passed = t.saturating_sub(self.last);
        let ready = passed.saturating_mul(self.created.len() as u64);
        self.sample.ready = self.sample.ready.saturating_add(ready);
        self.last = t;
        self.records += 1;
        match *event {
            Event::Create { site, scope, .. } => self.create(t, site, scope),
            Event::Begin((thread, count)) if thread == self.thread => self.begin(t, count),
            Event::End => self.end(t),
            Event::EndResume => match self.end(t) {
                State::Open => self.resume(t),
                _ => State::Spoilt,
            },
            Event::Scope { .. } => State::Open,
            Event::Wait { what, .. } => self.wait(t, what),
            Event::Resume => self.resume(t),
            // Time in which the task could not run is part of its time.
            Event::Off { .. } | Event::Recorder { .. } => State::Open,
            _ => State::Spoilt,
        }
    }

    fn create(&mut self, t: u64, site: u32, group: Option<TaskRef>) -> State {
        self.run(t);
        self.tasks += 1;
        let Some(top) = self.frames.last_mut().filter(|top| !top.waits) else {
            return State::Spoilt;
        };
        if self.tasks > MAX_TASKS {
            return State::Spoilt;
        }
        top.open += 1;
        let at = top.here;
        let created = PendingTask {
            site,
            at,
            left: false,
            group,
        };
        if let Some(group) = group {
            *self.groups.entry(group).or_default() += 1;
        }
        self.created.insert(self.count, created);
        self.count = self.count.wrapping_add(1);
        State::Open
    }

    fn begin(&mut self, t: u64, count: u64) -> State {
        let Some(created) = self.created.remove(&count) else {
            return State::Spoilt;
        };
        if self.frames.len() >= MAX_DEPTH {
            return State::Spoilt;
        }
        self.run(t);
        self.sample.begins(created.site);
        self.frames.push(Frame {
            site: created.site,
            begun: t,
            start: t,
            created,
            first: self.count,
            ..Frame::default()
        });
        State::Open
    }

    /// Ends the open strand of the task on top, if it has one.
    fn run(&mut self, t: u64) {
        let probes = self.probe.saturating_mul(2);
        if let Some(top) = self.frames.last_mut().filter(|top| !top.waits) {
            let weight = t.saturating_sub(top.start).saturating_sub(probes);
            top.own = top.own.saturating_add(weight);
            top.inner.work = top.inner.work.saturating_add(weight);
            top.here.run(weight);
            top.start = t;
        }
    }

    fn wait(&mut self, t: u64, what: WaitFor<'_>) -> State {
        self.run(t);
        let Some(top) = self.frames.last_mut().filter(|top| !top.waits) else {
            return State::Spoilt;
        };
        top.what = match what {
            WaitFor::Children | WaitFor::Tasks(_) => AwaitedTasks::Children,
            WaitFor::Scope(thread, seq) if self.groups.contains_key(&(thread, seq)) => {
                AwaitedTasks::Group((thread, seq))
            }
            // No task was created into this scope by name, so its members are all tasks created in
            // it.
            WaitFor::Scope(..) => AwaitedTasks::All,
            _ => return State::Spoilt,
        };
        self.sample.waits += 1;
        top.waits = true;
        State::Open
    }

    fn resume(&mut self, t: u64) -> State {
        let Some(top) = self.frames.last_mut().filter(|top| top.waits) else {
            return State::Spoilt;
        };
        let others_have = match top.what {
            AwaitedTasks::Children => top.open > 0,
            AwaitedTasks::All => top.open > 0 || self.created.range(top.first..).next().is_some(),
            AwaitedTasks::Group(group) => self.groups.remove(&group) != Some(0),
        };
        if others_have {
            return State::Spoilt;
        }
        let mut joined = None;
        match top.what {
            AwaitedTasks::Group(group) => joined = top.members.remove(&group),
            all => {
                if all == AwaitedTasks::All {
                    joined = top.left.take();
                }
                let members = std::mem::take(&mut top.members).into_values();
                for paths in members.chain(top.children.take()) {
                    joined = better(joined, paths);
                }
            }
        }
        if let Some(joined) = joined {
            top.here = top.here.or(joined);
        }
        (top.waits, top.start) = (false, t);
        State::Open
    }

    fn end(&mut self, t: u64) -> State {
        self.run(t);
        let Some(ended) = self.frames.pop().filter(|ended| !ended.waits) else {
            return State::Spoilt;
        };
        let left = ended.left.into_iter().chain(ended.children);
        let left = left.reduce(|a, b| a.or(b));
        let mut node = ended.inner;
        node.ticks = t.saturating_sub(ended.begun);
        let ways = ended.members.values().copied().chain(left);
        node.paths = ways.fold(ended.here, |best, way| best.or(way));
        let Some(creator) = self.frames.last_mut() else {
            let probes = self.probe.saturating_mul(2).saturating_mul(self.records);
            self.sample.whole = node;
            // Including the probes around the runtime's own work in waits.
            self.sample.probes = self.records.saturating_mul(2);
            self.sample.bare = node.ticks.saturating_sub(probes).max(node.work);
            return State::Whole;
        };
        let span = node.paths.heaviest.weight;
        self.sample.ends(ended.site, ended.own, node.work, span);
        creator.inner.tasks += node.tasks + 1;
        creator.inner.work = creator.inner.work.saturating_add(node.work);
        creator.inner.levels = creator.inner.levels.max(node.levels + 1);
        let through = |paths| ended.created.at.then_stolen(paths);
        if !ended.created.left {
            creator.open = creator.open.saturating_sub(1);
        }
        let mut members = ended.members;
        if let Some(group) = ended.created.group {
            if let Some(open) = self.groups.get_mut(&group) {
                *open = open.saturating_sub(1);
            }
            add(&mut members, group, ended.here);
        } else if ended.created.left {
            creator.left = better(creator.left, through(ended.here));
        } else {
            creator.children = better(creator.children, through(ended.here));
        }
        if let Some(left) = left {
            creator.left = better(creator.left, through(left));
        }
        if members.len() > MAX_LEFT_TASKS {
            return State::Spoilt;
        }
        for (group, paths) in members {
            add(&mut creator.members, group, through(paths));
        }
        // Tasks that it leaves behind belong to its creator.
        for (n, (_, created)) in self.created.range_mut(ended.first..).enumerate() {
            if n >= MAX_LEFT_TASKS {
                return State::Spoilt;
            }
            (created.at, created.left) = (through(created.at), true);
        }
        if !creator.waits {
            creator.start = t;
        }
        State::Open
    }

    pub(super) fn finish(self) -> Sample {
        self.sample
    }
}

#[cfg(test)]
mod tests {
    use Event::{End, Resume};

    use super::*;
    use crate::recorded::skipped::sample::Path;

    const CREATE: Event<'_> = Event::Create {
        kind: 1,
        site: 3,
        scope: None,
    };
    const WAIT: Event<'_> = Event::Wait {
        site: None,
        what: WaitFor::Children,
    };

    fn begin(count: u64) -> Event<'static> {
        Event::Begin((0, count))
    }

    fn meter(records: &[(u64, Event<'_>)]) -> (TaskSampler, Vec<State>) {
        let mut meter = TaskSampler::new(Sample::new(3, 0), 0, (0, 7), 100);
        let states = records.iter().map(|(t, event)| meter.event(*t, event));
        let states = states.collect();
        (meter, states)
    }

    /// A task with two children, one of which has a child, and another task that it leaves to
    /// others.
    #[test]
    fn what_a_task_runs_is_measured() {
        let (meter, states) = meter(&[
            (110, CREATE),
            (120, CREATE),
            (120, WAIT),
            (125, begin(8)),
            (135, End),
            (140, begin(7)),
            (150, CREATE),
            (155, begin(9)),
            (185, End),
            (190, WAIT),
            (190, Resume),
            (195, End),
            (200, Resume),
            (205, CREATE),
            (210, End),
        ]);
        assert!(states[..14].iter().all(|&s| s == State::Open), "{states:?}");
        assert_eq!(states[14], State::Whole);
        let sample = meter.finish();
        let whole = sample.whole;
        assert_eq!((whole.tasks, whole.ticks, whole.levels), (3, 110, 2));
        // 20 and 10 of its own, 10 of one child, 20 and 30 of the other and its child.
        assert_eq!((whole.work, sample.bare, sample.waits), (95, 110, 2));
        // 10, then the first child: 10 + 30 + 5; then 10 after the wait.
        let heaviest = Path {
            weight: 65,
            edges: 2,
        };
        assert_eq!(whole.paths.heaviest, heaviest);
        assert_eq!(whole.paths.longest, heaviest);
        let inside = &sample.inside[&3];
        assert_eq!((inside.tasks, inside.work), (3, 65));
    }

    fn member(seq: u64) -> Event<'static> {
        Event::Create {
            kind: 1,
            site: 3,
            scope: Some((0, seq)),
        }
    }

    /// A group inside of another one: its wait does not concern the outer group's member, which has
    /// not begun.
    #[test]
    fn a_group_is_waited_for_alone() {
        let wait = |seq| Event::Wait {
            site: None,
            what: WaitFor::Scope(0, seq),
        };
        let (meter, states) = meter(&[
            (110, Event::Scope { tree: false }),
            (110, member(4)),
            (120, Event::Scope { tree: false }),
            (120, member(5)),
            (125, wait(5)),
            (125, begin(8)),
            (155, End),
            (155, Resume),
            (160, wait(4)),
            (160, begin(7)),
            // One more task, which this one leaves behind.
            (165, member(4)),
            (170, End),
            (170, begin(9)),
            (220, End),
            (220, Resume),
            (230, End),
        ]);
        assert!(states[..15].iter().all(|&s| s == State::Open), "{states:?}");
        assert_eq!(states[15], State::Whole);
        let whole = meter.finish().whole;
        assert_eq!((whole.tasks, whole.work, whole.levels), (3, 130, 1));
        // 10, then the outer group: 5 + 50; then 10 after its wait.
        let heaviest = Path {
            weight: 75,
            edges: 2,
        };
        assert_eq!(whole.paths.heaviest, heaviest);
    }

    #[test]
    fn what_others_have_taken_is_no_sample() {
        let odd: [&[(u64, Event<'_>)]; 6] = [
            &[(110, CREATE), (120, WAIT), (130, Resume)],
            &[(110, begin(7))],
            &[(110, CREATE), (120, begin(7)), (130, begin(7))],
            &[(110, Resume)],
            &[(110, CREATE), (120, WAIT), (130, End)],
            &[(110, Event::SampleBegin { site: 3, level: 0 })],
        ];
        for records in odd {
            let (_, states) = meter(records);
            assert_eq!(states.last(), Some(&State::Spoilt), "{records:?}");
        }
    }
}
