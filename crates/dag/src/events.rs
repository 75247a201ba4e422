//! The parts of a run besides its tasks and strands: times off the CPU, regions, steals, scheduler
//! events, counters.

use crate::dag::{StrandId, TaskId, ThreadId};

/// Why a thread was off the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OffCpuReason {
    /// It could have run: *descheduled*.
    Preempted,
    /// It gave up the CPU itself (I/O, lock, channel): *blocked*.
    Blocked,
}

/// An interval in which a thread was off the CPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OffCpuInterval {
    /// The thread.
    pub thread: ThreadId,
    /// Start, in ticks.
    pub start: u64,
    /// End, in ticks.
    pub end: u64,
    /// Preempted or blocked.
    pub why: OffCpuReason,
    /// What it waited for, if known (`lock`, …).
    pub on: Option<String>,
}

/// An interval in which a thread ran the recorder inside a strand, for instance to fold (MODEL.md
/// §2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecorderRun {
    /// The thread.
    pub thread: ThreadId,
    /// Start, in ticks.
    pub start: u64,
    /// End, in ticks.
    pub end: u64,
}

/// A region of a task's own code (MODEL.md §4), or a labelled part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// Index into [`crate::Dag::labels`].
    pub label: u32,
    /// The task that opened and closed it.
    pub task: TaskId,
    /// Also covers tasks created while open (always true for a part).
    pub tree: bool,
    /// The strand in which it was opened, and the time.
    pub begin: (StrandId, u64),
    /// The strand in which it was closed, and the time. A region left open is closed by its task's
    /// end.
    pub end: (StrandId, u64),
    /// Number of creates at the begin strand's end that came before the opening (0 unless opened
    /// between two creates).
    pub begin_creates_before: u32,
    /// Number of creates at the end strand's end that came before the closing.
    pub end_creates_before: u32,
}

/// A steal the runtime reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Steal {
    /// The time, in ticks.
    pub t: u64,
    /// The thread that took the task.
    pub thief: ThreadId,
    /// The thread it was taken from ([`crate::NONE`] = unknown).
    pub victim: ThreadId,
    /// The task taken ([`crate::NONE`] = unknown).
    pub task: TaskId,
    /// Taken while waiting for a stolen child (leapfrog).
    pub leap: bool,
}

/// The scheduler's own events and samples, by time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ThreadEvent {
    /// A failed attempt to steal from a victim.
    StealFailed(ThreadId),
    /// The thread went to sleep.
    Sleep,
    /// The thread woke.
    Wake,
    /// CPU load since the last such event, 0 to 1.
    Cpu(f64),
    /// Number of ready tasks in the thread's own queue.
    Queue(u64),
}

/// A counter (instructions, cache misses …): the difference over each strand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counter {
    /// Name as given.
    pub name: String,
    /// Value by strand, ascending; strands without a value are absent.
    pub values: Vec<(StrandId, u64)>,
}
