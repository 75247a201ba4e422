//! The state of the tasks on the stack and of their sections that may still be folded.

use crate::envelope::Envelope;
use crate::histogram::HistogramMark;
use crate::output::Mark;
use crate::path::End;
use crate::recycled_stack::Slot;

/// What a task on the stack waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waits {
    /// Nothing: it runs.
    No,
    /// All children that have not been joined yet.
    Children,
    /// The members of this group.
    Group(u32),
    /// It stopped because its child began on top of it.
    Interrupted,
    /// The task has ended, and lingers until those that it created into its own scope have run.
    Lingers,
    /// Something that is not followed, or nothing.
    Other,
}

/// How the task below on the stack knows this task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskLink {
    /// The task below does not know it.
    Foreign,
    /// A child of the join that the task below waits for.
    Join { deferred: bool },
    /// A task at this index of the list of children.
    Child(u32),
}

/// A task on the stack.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    /// The task's create count, if this thread created it.
    pub seq: u64,
    /// The task's site, if known.
    pub site: Option<u32>,
    /// The start of its open strand.
    pub start: u64,
    /// The place at which the open strand starts: site + 1, or 0 if unknown.
    pub from: u32,
    pub waits: Waits,
    /// The open strand began at a create. It is not a strand of its own unless time passes.
    pub mergeable: bool,
    /// The open strand continues after a signal; its first probe is that of the strand before.
    pub signalled: bool,
    /// The deferred child of the join that the task waits for, and that child's site.
    pub next: Option<(u64, u32)>,
    pub via: TaskLink,
    /// The task is a chunk of a loop. The task below also waits for all that the chunk creates.
    pub chunk: bool,
    /// None of its sections may be folded.
    pub barred: bool,
    /// The task has children that it has not waited for and that are not in its section.
    pub dirty: bool,
    /// The scope that the task was created into, if known: thread and count.
    pub member_of: Option<(u32, u64)>,
}

impl Frame {
    /// Creates a task that runs from `start` on.
    pub(crate) fn new(seq: u64, start: u64) -> Frame {
        Frame {
            seq,
            site: None,
            start,
            from: 0,
            waits: Waits::No,
            mergeable: false,
            signalled: false,
            next: None,
            via: TaskLink::Foreign,
            chunk: false,
            barred: false,
            dirty: false,
            member_of: None,
        }
    }
}

/// Tasks that a section created and that are joined together, with their results once they have
/// ended.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    /// The scope that they were created into, by this thread's count.
    pub scope: Option<u64>,
    pub tree: bool,
    /// They are the children of a join.
    pub join: bool,
    /// They are the children of a join, or the tasks that a wait names: no other wait joins them.
    pub apart: bool,
    /// They are members of the scope that the section's own task is a member of: they end where it
    /// does.
    pub outward: bool,
    /// The only task of the group, which no other thread may take and which a wait names once it
    /// has ended.
    pub alone: Option<u64>,
    /// The group's wait is over.
    pub closed: bool,
    /// The number of tasks that have not ended.
    pub open: u32,
    /// The heaviest path to the end of a task that has ended.
    pub heaviest: Option<Heaviest>,
    /// All paths to those ends, counted from the section's start (for a join's children, from the
    /// join).
    pub envelope: Envelope,
    /// The time at which the last task ended.
    pub last_end: u64,
}

/// The heaviest path to the end of a task.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Heaviest {
    pub weight: u64,
    pub end: End,
    /// The task's create count, site, and position on the stack.
    pub seq: u64,
    pub site: u32,
    pub depth: u32,
}

impl Default for Group {
    fn default() -> Group {
        Group {
            scope: None,
            tree: false,
            join: false,
            apart: false,
            outward: false,
            alone: None,
            closed: false,
            open: 0,
            heaviest: None,
            envelope: Envelope::path(0, 0),
            last_end: 0,
        }
    }
}

impl Slot for Group {
    fn reset(&mut self) {
        (self.scope, self.tree, self.join) = (None, false, false);
        (self.apart, self.closed, self.open) = (false, false, 0);
        (self.outward, self.alone) = (false, None);
        (self.heaviest, self.last_end) = (None, 0);
        self.envelope.set(0, 0);
    }
}

impl Group {
    /// A task of the group has ended at `t`, with this heaviest path and all paths of the envelope.
    /// Returns `None` if there are too many corners or no open task is left.
    #[inline]
    pub(crate) fn ended(&mut self, path: Heaviest, all: &Envelope, t: u64) -> Option<()> {
        let heavier = match self.heaviest {
            None => {
                self.envelope.copy(all);
                true
            }
            Some(known) => {
                self.envelope.or(all)?;
                path.weight > known.weight || path.weight == known.weight && path.seq < known.seq
            }
        };
        if heavier {
            self.heaviest = Some(path);
        }
        self.open = self.open.checked_sub(1)?;
        self.last_end = self.last_end.max(t);
        Some(())
    }

    /// Whether no later wait concerns the group.
    pub(crate) fn is_over(&self) -> bool {
        self.open == 0 && self.heaviest.is_none() && (self.scope.is_none() || self.closed)
    }
}

/// A task that a section created and that has not ended.
#[derive(Debug, Clone)]
pub(crate) struct Child {
    pub seq: u64,
    pub site: u32,
    pub deferred: bool,
    pub chunk: bool,
    pub scope: Option<(u32, u64)>,
    pub group: u32,
    pub created: u64,
    /// The heaviest path to its creation.
    pub through: u64,
    pub end: End,
    /// All paths from the section's start to the task's creation, including the create edge.
    pub envelope: Envelope,
    pub begun: bool,
    pub ended: bool,
}

impl Default for Child {
    fn default() -> Child {
        Child {
            seq: 0,
            site: 0,
            deferred: false,
            chunk: false,
            scope: None,
            group: 0,
            created: 0,
            through: 0,
            end: End { node: 0, weight: 0 },
            envelope: Envelope::path(0, 0),
            begun: false,
            ended: false,
        }
    }
}

impl Slot for Child {
    /// The other fields are set by the code that pushes the child.
    fn reset(&mut self) {
        (self.begun, self.ended) = (false, false);
    }
}

/// A stretch of a task that could become one strand: from the start of one of its strands, with all
/// that the task has created since.
#[derive(Debug, Clone)]
pub(crate) struct Section {
    /// The time at which it starts, and the first of its records.
    pub since: u64,
    /// Ticks since then in which its thread did not work ([`crate::Fold::paused`]).
    pub paused: u64,
    /// Those of `paused` in which the thread was off the CPU: while it did not fold, and while it
    /// did.
    pub off: u64,
    pub pause_off: u64,
    pub mark: Mark,
    /// Bytes fed and tasks created before the section.
    pub source: (u64, u64),
    /// The section starts with the task.
    pub whole: bool,
    /// The number of ready tasks outside of it (`ready_outside`).
    pub outside: u64,
    /// Where its own part of each list starts.
    pub children: u32,
    pub groups: u32,
    pub sites: u32,
    pub tally: HistogramMark,
    pub nodes: u32,
    /// The heaviest path to its start, and to where the task is now.
    pub entry: u64,
    pub through: u64,
    pub end: End,
    /// All paths from its start to where the task is now.
    pub envelope: Envelope,
    /// Work of the task's own strands.
    pub own: u64,
    /// The sums over its tasks.
    pub sum: SectionSums,
    /// Scopes opened in the open strand when everything before was joined: the mark before their
    /// records, and their number.
    pub opened: Option<(Mark, u64)>,
    /// Folding fewer bytes than this is not worth another try.
    pub retry: u64,
}

/// Sums over the tasks of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct SectionSums {
    pub work: u64,
    /// The time taken out for probes.
    pub probes: u64,
    pub tasks: u64,
    pub spawns: u64,
    pub syncs: u64,
    pub strands: u64,
    pub scopes: u64,
    pub levels: u32,
    /// The integral of the number of ready tasks over time.
    pub ready: u64,
}

impl SectionSums {
    /// A task that was created here has ended. `inner` has the sums of that task with everything
    /// inside; the task was ready for `ready` ticks before it began.
    #[inline]
    pub(crate) fn add_task(&mut self, inner: &SectionSums, deferred: bool, ready: u64) {
        self.work = self.work.saturating_add(inner.work);
        self.probes = self.probes.saturating_add(inner.probes);
        self.tasks += inner.tasks + 1;
        self.spawns += inner.spawns + u64::from(deferred);
        self.syncs += inner.syncs;
        self.strands += inner.strands;
        self.scopes += inner.scopes;
        self.levels = self.levels.max(inner.levels + 1);
        self.ready = self.ready.saturating_add(ready.saturating_add(inner.ready));
    }
}

/// Outermost work and span of a spawn site in a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SiteSum {
    pub site: u32,
    pub work: u64,
    pub span: u64,
}

impl Default for Section {
    fn default() -> Section {
        Section {
            since: 0,
            source: (0, 0),
            paused: 0,
            off: 0,
            pause_off: 0,
            mark: Mark { at: 0, last: 0 },
            whole: false,
            outside: 0,
            children: 0,
            groups: 0,
            sites: 0,
            tally: HistogramMark::default(),
            nodes: 0,
            entry: 0,
            through: 0,
            end: End { node: 0, weight: 0 },
            envelope: Envelope::path(0, 0),
            own: 0,
            sum: SectionSums::default(),
            opened: None,
            retry: 0,
        }
    }
}

impl Slot for Section {
    /// Clears the counters; the other fields are set by the code that pushes the section.
    fn reset(&mut self) {
        (self.own, self.sum) = (0, SectionSums::default());
        (self.opened, self.retry, self.paused) = (None, 0, 0);
        (self.off, self.pause_off) = (0, 0);
        self.envelope.set(0, 0);
    }
}

impl Section {
    /// The length at `t`, without pauses.
    #[inline]
    pub(crate) fn length(&self, t: u64) -> u64 {
        t.saturating_sub(self.since).saturating_sub(self.paused)
    }
}
