//! The columns of the DAG.

pub use crate::events::*;
use crate::folded::{Folded, Folds};
use crate::handoffs::Handoffs;
pub use crate::kinds::*;
use crate::meta::Meta;
pub use crate::place::*;
use crate::pools::Pools;
pub use crate::ragged_array::RaggedArray;
use crate::samples::Samples;
use crate::skipped::SkippedBounds;

/// Index of a task: `0..dag.tasks.len()`. Smaller index = smaller task number (creation order when
/// recorded).
pub type TaskId = u32;
/// Index of a strand: `0..dag.strands.len()`, a topological order: every predecessor has a smaller
/// index. Strands are sorted by start time.
pub type StrandId = u32;
/// Index into [`Dag::places`]; spawn sites and strand positions share the table.
pub type PlaceId = u32;
/// Index into [`Dag::scopes`].
pub type ScopeId = u32;
/// Index of a thread.
pub type ThreadId = u32;
/// "No such thing" in any of the index columns.
pub const NONE: u32 = u32::MAX;
/// The place of every root task.
pub const ROOT_PLACE: PlaceId = 0;

/// A scope a task opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scope {
    /// Number shown to people and written to text; unique.
    pub number: u64,
    /// Group or tree.
    pub kind: ScopeKind,
    /// The task that opened it.
    pub opener: TaskId,
    /// The opener's strand during (or at the end of) which it was opened.
    pub strand: StrandId,
    /// The number of that strand's creates before the opening.
    pub creates_before: u32,
}

/// Task columns, all of one length.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tasks {
    /// Task numbers where they are not the indices, ascending; else empty. See [`Tasks::number`].
    pub numbers: Vec<u64>,
    /// Parent task, or [`NONE`] for a root.
    pub parent: Vec<TaskId>,
    /// Deferred, inline, …
    pub kind: Vec<TaskKind>,
    /// Spawn site; [`ROOT_PLACE`] for roots.
    pub site: Vec<PlaceId>,
    /// Number of creates on the way from the root: 0 for roots.
    pub level: Vec<u32>,
    /// The strand at whose end it was created, or [`NONE`].
    pub creator: Vec<StrandId>,
    /// Its place among the creates at that strand's end, from 0.
    pub create_rank: Vec<u32>,
    /// Scope it was created into, or [`NONE`].
    pub scope: Vec<ScopeId>,
    /// First strand. Every task has one.
    pub first: Vec<StrandId>,
    /// Last strand.
    pub last: Vec<StrandId>,
}

impl Tasks {
    /// The number of a task as shown to people; ascending, like the index.
    #[inline]
    pub fn number(&self, task: TaskId) -> u64 {
        let own = self.numbers.get(task as usize).copied();
        own.unwrap_or(u64::from(task))
    }
    /// Number of tasks.
    pub fn len(&self) -> usize {
        self.parent.len()
    }
    /// True if there are no tasks.
    pub fn is_empty(&self) -> bool {
        self.parent.is_empty()
    }
}

/// Strand columns, all of one length, in topological (and start-time) order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Strands {
    /// The task that the strand belongs to.
    pub task: Vec<TaskId>,
    /// The thread that it ran on.
    pub thread: Vec<ThreadId>,
    /// Start, in ticks.
    pub start: Vec<u64>,
    /// End, in ticks; not below start.
    pub end: Vec<u64>,
    /// Previous strand of the task, or [`NONE`].
    pub prev: Vec<StrandId>,
    /// Why it could start.
    pub start_kind: Vec<StartKind>,
    /// What ended it.
    pub end_kind: Vec<EndKind>,
    /// Where it ended in the program ([`NONE`] = unknown, or the task's end).
    pub to: Vec<PlaceId>,
}

impl Strands {
    /// Number of strands.
    pub fn len(&self) -> usize {
        self.task.len()
    }
    /// True if there are no strands.
    pub fn is_empty(&self) -> bool {
        self.task.is_empty()
    }
}

/// The waits, one for each strand that starts after one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Waits {
    /// The strand after the wait. Ascending: a forward pass keeps a cursor, other code searches.
    pub after: Vec<StrandId>,
    /// The scope waited for and closed, or [`NONE`].
    pub scope: Vec<ScopeId>,
    /// True for a plain wait for all children (`wait` with nothing named).
    pub plain: Vec<bool>,
    /// Tasks joined by each wait (ascending).
    pub tasks: RaggedArray,
    /// Signals waited for, as the strands that set them (each ends in [`EndKind::Signal`]).
    pub signals: RaggedArray,
}

impl Waits {
    /// The wait before strand `s`.
    pub fn index_of(&self, s: StrandId) -> Option<usize> {
        self.after.binary_search(&s).ok()
    }
}

/// The computation DAG of one run. Built by [`crate::build::build`]; never changed afterwards.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Dag {
    /// The run.
    pub meta: Meta,
    /// Positions; index 0 is the root's.
    pub places: Vec<Place>,
    /// Region and part names.
    pub labels: Vec<String>,
    /// Tasks.
    pub tasks: Tasks,
    /// Strands.
    pub strands: Strands,
    /// Scopes.
    pub scopes: Vec<Scope>,
    /// Waits.
    pub waits: Waits,
    /// Tasks with depend edges, ascending; [`Dag::depends`] has the tasks that each depends on.
    pub dependents: Vec<TaskId>,
    /// By index into [`Dag::dependents`]: the tasks that it depends on.
    pub depends: RaggedArray,
    /// Off-CPU intervals, by thread, then time.
    pub offs: Vec<OffCpuInterval>,
    /// For tasks that are threads: the ticks for which the thread waited for a CPU before the task
    /// began. By task, each once.
    pub start_waits: Vec<(TaskId, u64)>,
    /// Intervals in which threads ran the recorder inside strands, by thread, then time; on the
    /// CPU, and without overlaps.
    pub recorder_runs: Vec<RecorderRun>,
    /// Regions, by task, then opening.
    pub regions: Vec<Region>,
    /// Parts, by task, then opening.
    pub parts: Vec<Region>,
    /// Steals the runtime reported, by time.
    pub steals: Vec<Steal>,
    /// Scheduler events and samples: (time, thread, event), by time, then thread.
    pub thread_events: Vec<(u64, ThreadId, ThreadEvent)>,
    /// Counters, by name.
    pub counters: Vec<Counter>,
    /// Folded strands, ascending: a strand that stands for a whole subtree (MODEL.md §7).
    pub folded: Folds,
    /// The folded strands that were not recorded, ascending: their records are estimates, within
    /// these bounds.
    pub skipped: Vec<(StrandId, SkippedBounds)>,
    /// Samples of the code.
    pub samples: Samples,
    /// The pools, if there were several at the same time.
    pub pools: Pools,
    /// Numbers of signals, by the strand that set them, ascending.
    pub signals: Vec<(StrandId, u64)>,
    /// Waits inside strands that another thread ended.
    pub handoffs: Handoffs,
}

impl Dag {
    /// The counters that measure strands: all but the size of tasks
    /// ([`SIZE_COUNTER`](crate::task_sizes::SIZE_COUNTER)), which says the same of each part of a
    /// strand.
    pub fn strand_counters(&self) -> impl Iterator<Item = &Counter> {
        let is_measure = |c: &&Counter| c.name != crate::task_sizes::SIZE_COUNTER;
        self.counters.iter().filter(is_measure)
    }

    /// Whether strand `s` can be cut in two. A folded strand's record and the value of a counter
    /// that measures it can't be divided.
    pub(crate) fn is_divisible(&self, s: StrandId) -> bool {
        let has = |c: &Counter| c.values.binary_search_by_key(&s, |v| v.0).is_ok();
        !self.folded.has(s) && !self.strand_counters().any(has)
    }

    /// True for a worker of the pool.
    pub fn is_worker(&self, thread: ThreadId) -> bool {
        thread < self.meta.workers
    }

    /// Whether the task is a thread that the program started (MODEL.md §1).
    pub fn is_thread_task(&self, task: TaskId) -> bool {
        let site = self.tasks.site[task as usize];
        self.places.get(site as usize).is_some_and(Place::is_thread)
    }

    /// The number of ticks for which the thread of this task waited for a CPU before the task
    /// began, if the task is a thread that the program started; 0 if that is not known.
    pub fn start_wait(&self, task: TaskId) -> u64 {
        let at = self.start_waits.binary_search_by_key(&task, |wait| wait.0);
        at.map_or(0, |at| self.start_waits[at].1)
    }

    /// Whether no thread can steal the task: it begins where its creator, the runtime or the
    /// program puts it (inline tasks and threads).
    pub fn is_put(&self, task: TaskId) -> bool {
        match self.tasks.kind[task as usize] {
            TaskKind::Inline => true,
            TaskKind::Detached => self.is_thread_task(task),
            TaskKind::Root | TaskKind::Deferred => false,
        }
    }

    /// Where strand `s` started in the program: the place where the previous strand ended, or the
    /// spawn site for a task's first strand. [`NONE`] = unknown. A piece after a handoff has the
    /// place of the whole strand.
    #[inline]
    pub fn starts_at(&self, mut s: StrandId) -> PlaceId {
        while self.strands.start_kind[s as usize] == StartKind::AfterHandoff {
            s = self.strands.prev[s as usize];
        }
        match self.strands.prev[s as usize] {
            NONE => self.tasks.site[self.strands.task[s as usize] as usize],
            prev => self.strands.to[prev as usize],
        }
    }

    /// The folded subtree that strand `s` stands for, if any.
    pub fn fold_of(&self, s: StrandId) -> Option<Folded> {
        self.folded.record(s)
    }

    /// The error bounds of the record of strand `s`, if it stands for an unrecorded subtree.
    pub fn bounds_of(&self, s: StrandId) -> Option<&SkippedBounds> {
        let i = self.skipped.binary_search_by_key(&s, |u| u.0).ok()?;
        Some(&self.skipped[i].1)
    }

    /// Folded strands with their records, except those that stand for unrecorded subtrees.
    pub fn folded_subtrees(&self) -> impl Iterator<Item = (StrandId, Folded)> + '_ {
        let all = self.folded.iter();
        all.filter(|&(s, _)| self.bounds_of(s).is_none())
    }

    /// Calls `f(predecessor strand, kind of edge)` for every predecessor of `s`, in the tie order
    /// of MODEL.md §3. O(log n) to find a wait's or a dependent task's list.
    pub fn for_each_predecessor(&self, s: StrandId, mut f: impl FnMut(StrandId, EdgeKind)) {
        let i = s as usize;
        let task = self.strands.task[i] as usize;
        match self.strands.start_kind[i] {
            StartKind::Begin => {
                if self.tasks.creator[task] != NONE {
                    f(self.tasks.creator[task], EdgeKind::Create);
                }
                if let Ok(d) = self.dependents.binary_search(&(task as u32)) {
                    for &on in self.depends.get(d) {
                        f(self.tasks.last[on as usize], EdgeKind::Depend);
                    }
                }
            }
            StartKind::AfterCreate => f(self.strands.prev[i], EdgeKind::CreateContinuation),
            StartKind::AfterYield | StartKind::AfterSignal => {
                f(self.strands.prev[i], EdgeKind::YieldContinuation);
            }
            StartKind::AfterHandoff => {
                f(self.strands.prev[i], EdgeKind::YieldContinuation);
                for handoff in self.handoffs.to(s) {
                    f(handoff.from, EdgeKind::Signal);
                }
            }
            StartKind::AfterWait => {
                f(self.strands.prev[i], EdgeKind::WaitContinuation);
                if let Some(w) = self.waits.index_of(s) {
                    for &t in self.waits.tasks.get(w) {
                        f(self.tasks.last[t as usize], EdgeKind::End);
                    }
                    for &sig in self.waits.signals.get(w) {
                        f(sig, EdgeKind::Signal);
                    }
                }
            }
        }
    }
}
