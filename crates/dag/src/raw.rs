//! What a reader produces: the run as read, before waits are resolved and strands put in order.
//!
//! Readers push tasks, scopes and strands; a task's strands must be pushed in program order
//! (strands of different tasks may interleave in any way). Indices are positions in these vectors.

mod clock_change;
mod strands;

pub use clock_change::ClockChange;
pub use strands::RawStrands;

use crate::dag::{OffCpuInterval, Place, RaggedArray, ScopeKind, Steal, TaskKind, ThreadEvent};
use crate::events::RecorderRun;
use crate::folded::Folds;
use crate::meta::Meta;
use crate::pools::Pools;
use crate::samples::RawSamples;
use crate::skipped::SkippedBounds;
pub use workspan_trace::entry::{CallRole, RankCall};

/// A task as read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawTask {
    /// The number shown to people. It decides the order of [`crate::TaskId`]s. Unique.
    pub number: u64,
    /// The creating task, or `NONE`.
    pub parent: u32,
    /// How it was created.
    pub kind: TaskKind,
    /// Index into [`RawTrace::places`]; the root place for a root.
    pub site: u32,
    /// Scope (index into [`RawTrace::scopes`]) it was created into, or `NONE`.
    pub scope: u32,
}

/// What ended a strand: 8 bytes, since there are tens of millions of strands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RawEnd {
    /// Created this task.
    Create(u32),
    /// Created this task, then the next one, both into a group scope that holds nothing else, and
    /// waited for that scope. It is equivalent to two `Create`s and a `WaitScope`, the last two in
    /// strands of no length.
    Join(u32),
    /// Waits for all children created before, not detached, not yet joined by this task.
    WaitChildren,
    /// Waits for a scope's members and closes it.
    WaitScope(u32),
    /// Waits for the tasks in this list of [`RawTrace::wait_tasks`].
    WaitTasks(u32),
    /// Waits for the signals in this list of [`RawTrace::wait_signals`].
    WaitSignals(u32),
    /// Pauses without waiting for anything.
    Yield,
    /// Sets this signal, an index into [`RawTrace::signals`].
    Signal(u32),
    /// The task's end.
    End,
}

/// A strand as read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawStrand {
    /// Its task.
    pub task: u32,
    /// Thread.
    pub thread: u32,
    /// Start, in ticks.
    pub start: u64,
    /// End, in ticks.
    pub end: u64,
    /// What ended it.
    pub end_op: RawEnd,
    /// Place where it ended (the primitive's position), or `NONE`.
    pub at: u32,
    /// Must stay a strand of its own even when of zero length after a create: set exactly when it
    /// carries counters or a fold.
    pub keep: bool,
}

/// A scope as read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawScope {
    /// Unique number.
    pub number: u64,
    /// Kind.
    pub kind: ScopeKind,
    /// Opening task.
    pub opener: u32,
    /// Raw strand in which it was opened.
    pub strand: u32,
}

/// A region or part as read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawRegion {
    /// Index into [`RawTrace::labels`].
    pub label: u32,
    /// Its task.
    pub task: u32,
    /// True for a tree region or a part.
    pub tree: bool,
    /// Raw strand and time of the opening.
    pub begin: (u32, u64),
    /// Raw strand and time of the closing; the strand is `NONE` when it was left open (the task's
    /// end closes it).
    pub end: (u32, u64),
}

/// A whole run as read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RawTrace {
    /// The run.
    pub meta: Meta,
    /// Readers may report the end of a task after its waiter went on: the earlier time is the right
    /// one. Only matters where contradictions are repaired.
    pub late_ends: bool,
    /// Places; index 0 must be the root place.
    pub places: Vec<Place>,
    /// Region and part names.
    pub labels: Vec<String>,
    /// Tasks.
    pub tasks: Vec<RawTask>,
    /// Strands; those of one task in program order.
    pub strands: RawStrands,
    /// Scopes.
    pub scopes: Vec<RawScope>,
    /// Numbers of the signals set or waited for, each once.
    pub signals: Vec<u64>,
    /// Lists of raw tasks named by waits.
    pub wait_tasks: RaggedArray,
    /// Lists of signals (indices into `signals`) named by waits.
    pub wait_signals: RaggedArray,
    /// (task, task it depends on), raw indices.
    pub depends: Vec<(u32, u32)>,
    /// Off-CPU intervals.
    pub offs: Vec<OffCpuInterval>,
    /// See [`crate::Dag::start_waits`]; by raw task.
    pub start_waits: Vec<(u32, u64)>,
    /// Intervals in which threads ran the recorder inside strands; may overlap.
    pub recorder_runs: Vec<RecorderRun>,
    /// Regions.
    pub regions: Vec<RawRegion>,
    /// Parts.
    pub parts: Vec<RawRegion>,
    /// Steals; `task` is a raw index or `NONE`.
    pub steals: Vec<Steal>,
    /// Scheduler events.
    pub thread_events: Vec<(u64, u32, ThreadEvent)>,
    /// (counter name, values by raw strand).
    pub counters: Vec<(String, Vec<(u32, u64)>)>,
    /// Samples of the code.
    pub samples: RawSamples,
    /// Calls of MPI: the thread, and the call with an index into the samples' stacks. Only the
    /// traces of all ranks together show who waited for whom; a [`crate::Dag`] has the waits.
    pub rank_calls: Vec<(u32, RankCall)>,
    /// See [`crate::Dag::pools`].
    pub pools: Pools,
    /// Folded strands by raw strand.
    pub folded: Folds,
    /// The folded strands that are estimated, by raw strand.
    pub skipped: Vec<(u32, SkippedBounds)>,
}
