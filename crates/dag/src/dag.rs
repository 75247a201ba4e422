//! The columns of the DAG.

pub use crate::events::*;
use crate::folded::{Folded, Folds};
use crate::handoffs::Handoffs;
use crate::meta::Meta;
use crate::pools::Pools;
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

/// A position in the program: a spawn site, or where a strand starts or ends.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// The text shown to people: the text given, else `file:line` (for a chain of method calls over
    /// several lines `file:first-line`), else a symbol, else `?`.
    pub label: String,
    /// Source file, relative to the workspace if it lies inside.
    pub file: Option<String>,
    /// 1-based line.
    pub line: Option<u32>,
    /// Function that contains the position, demangled.
    pub function: Option<String>,
    /// The primitive called there, for instance `join` or `scope`, if known.
    pub primitive: Option<String>,
    /// The text of the source line, trimmed, as it was when the run was recorded.
    pub source: Option<String>,
    /// Who reported what happens here, where known.
    pub reporter: Option<Reporter>,
}

/// Who reported a task or a wait to the recorder (MODEL.md §1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reporter {
    /// The program (*application*): by calls of `workspan.h`, of a header over it, or of the Rust
    /// API.
    Program,
    /// Hooks in a runtime or a library (*library*): Rayon, OpenMP, oneTBB, threads.
    Runtime,
}

impl Reporter {
    /// All values, the program first.
    pub const ALL: [Reporter; 2] = [Reporter::Program, Reporter::Runtime];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Reporter::Program => "program",
            Reporter::Runtime => "runtime",
        }
    }
}

/// [`Place::primitive`] of a place where the program starts a thread of its own.
pub const THREAD_PRIMITIVE: &str = "thread";

impl Place {
    /// Whether the tasks created here are threads (MODEL.md §1).
    pub fn is_thread(&self) -> bool {
        self.primitive.as_deref() == Some(THREAD_PRIMITIVE)
    }

    /// The lines as shown to people: `12`, or `10-12` for a chain that begins at line 10.
    pub fn lines(&self) -> Option<&str> {
        let file = self.file.as_deref()?;
        let lines = self.label.strip_prefix(file)?.strip_prefix(':')?;
        let last = lines.rsplit_once('-').map_or(lines, |(_, last)| last);
        (last.parse() == Ok(self.line?)).then_some(lines)
    }

    /// The first line of the chain of calls whose last call is this place.
    pub fn first_line(&self) -> Option<u32> {
        self.lines()?.split_once('-')?.0.parse().ok()
    }
}

/// How a task was created (MODEL.md §1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[repr(u8)]
pub enum TaskKind {
    /// It has no creator.
    #[default]
    Root,
    /// Another thread may take it: a spawn.
    Deferred,
    /// No other thread may take it; no spawn, no burden.
    Inline,
    /// No task waits for it; no spawn, no burden.
    Detached,
}

impl TaskKind {
    /// Its name in tables and answers.
    pub fn name(self) -> &'static str {
        match self {
            TaskKind::Root => "root",
            TaskKind::Deferred => "deferred",
            TaskKind::Inline => "inline",
            TaskKind::Detached => "detached",
        }
    }
}

/// Why a strand could start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(u8)]
pub enum StartKind {
    /// The task's first strand: predecessors are the creating strand and the tasks depended on.
    #[default]
    Begin,
    /// After creates: predecessor is the task's previous strand.
    AfterCreate,
    /// After a wait: the task's previous strand and the last strands of the tasks (or the
    /// signalling strands) waited for.
    AfterWait,
    /// After a yield: the previous strand.
    AfterYield,
    /// After a signal: the previous strand, by a yield-continuation edge.
    AfterSignal,
    /// After a handoff: the previous strand, by a yield-continuation edge. If its thread had
    /// waited, also the strand that ended the wait, by a signal edge ([`Dag::handoffs`]).
    AfterHandoff,
}

/// What ended a strand.
///
/// A zero-length strand that follows a create at once is merged into the strand before it, so a
/// strand can create several tasks at its end (see [`Tasks::creator`]) and then still end in a
/// wait, a yield, a signal or the task's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(u8)]
pub enum EndKind {
    /// Creates one task or more; the next strand is [`StartKind::AfterCreate`].
    #[default]
    Create,
    /// A wait (after any creates).
    Wait,
    /// Pauses without waiting for anything.
    Yield,
    /// Sets a signal.
    Signal,
    /// The task's end.
    End,
    /// A handoff: here another thread ended this thread's wait, or this thread ended another one's.
    /// The task continues at once.
    Handoff,
}

/// A kind of edge, in the order of the tie rule of MODEL.md §3 (a continuation or create edge, then
/// end, depend, signal).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum EdgeKind {
    /// Creating strand → child's first strand.
    Create,
    /// Strand → the next of its task after a create.
    CreateContinuation,
    /// Strand → the next of its task after a wait.
    WaitContinuation,
    /// Strand → the next of its task after a yield or a signal.
    YieldContinuation,
    /// Last strand of a task waited for → strand after the wait.
    End,
    /// Last strand of a task depended on → first strand of the dependent task.
    Depend,
    /// Signalling strand → strand that waited for the signal.
    Signal,
}

impl EdgeKind {
    /// The names in JSON and SQL, indexed by `EdgeKind as usize`.
    pub const NAMES: [&str; 7] = [
        "create",
        "create_continuation",
        "wait_continuation",
        "yield_continuation",
        "end",
        "depend",
        "signal",
    ];

    /// The name in JSON and SQL.
    pub fn name(self) -> &'static str {
        EdgeKind::NAMES[self as usize]
    }
}

impl StartKind {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            StartKind::Begin => "begin",
            StartKind::AfterCreate => "after_create",
            StartKind::AfterWait => "after_wait",
            StartKind::AfterYield => "after_yield",
            StartKind::AfterSignal => "after_signal",
            StartKind::AfterHandoff => "after_handoff",
        }
    }
}

impl EndKind {
    /// The name in JSON, SQL and tables.
    pub fn name(self) -> &'static str {
        match self {
            EndKind::Create => "create",
            EndKind::Wait => "wait",
            EndKind::Yield => "yield",
            EndKind::Signal => "signal",
            EndKind::End => "end",
            EndKind::Handoff => "handoff",
        }
    }
}

/// A scope's kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ScopeKind {
    /// Members are the tasks created into the scope.
    #[default]
    Group,
    /// Children of members are members too.
    Tree,
    /// A tree whose members are the implicit tasks of a parallel region, one for each thread of its
    /// team. Their number is not a property of the program.
    Team,
}

impl ScopeKind {
    /// Whether children of members are members too.
    pub fn is_tree(self) -> bool {
        self != ScopeKind::Group
    }
}

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

/// Lists of different lengths in two arrays.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RaggedArray {
    /// `offsets[i]..offsets[i + 1]` are the items of list i. One longer than the number of lists,
    /// or empty if there are no lists.
    pub offsets: Vec<u32>,
    /// The items.
    pub items: Vec<u32>,
}

impl RaggedArray {
    /// Sorts (list, item) pairs into `count` lists, each in the order of the pairs. Pairs with a
    /// list number outside of them are left out. Linear.
    pub fn from_pairs(
        count: usize,
        pairs: impl Iterator<Item = (u32, u32)> + Clone,
    ) -> RaggedArray {
        let mut offsets = vec![0u32; count + 1];
        let is_known = |pair: &(u32, u32)| (pair.0 as usize) < count;
        for (list, _) in pairs.clone().filter(is_known) {
            offsets[list as usize + 1] += 1;
        }
        for i in 0..count {
            offsets[i + 1] += offsets[i];
        }
        let mut next = offsets.clone();
        let mut items = vec![0; offsets[count] as usize];
        for (list, item) in pairs.filter(is_known) {
            let at = &mut next[list as usize];
            items[*at as usize] = item;
            *at += 1;
        }
        RaggedArray { offsets, items }
    }

    /// List `i`; empty when there is no such list.
    pub fn get(&self, i: usize) -> &[u32] {
        match (self.offsets.get(i), self.offsets.get(i + 1)) {
            (Some(&a), Some(&b)) => &self.items[a as usize..b as usize],
            _ => &[],
        }
    }
    /// Number of lists.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }
    /// True if there is no list.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Appends a list.
    pub fn push(&mut self, items: impl IntoIterator<Item = u32>) {
        if self.offsets.is_empty() {
            self.offsets.push(0);
        }
        self.items.extend(items);
        self.offsets.push(self.items.len() as u32);
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
    /// The pools, if there were several at one moment.
    pub pools: Pools,
    /// Numbers of signals, by the strand that set them, ascending.
    pub signals: Vec<(StrandId, u64)>,
    /// Waits inside strands that another thread ended.
    pub handoffs: Handoffs,
}

impl Dag {
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
