//! The kinds of tasks, of strands' starts and ends, of edges and of scopes.

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
    /// waited, also the strand that ended the wait, by a signal edge
    /// ([`Dag::handoffs`](crate::Dag::handoffs)).
    AfterHandoff,
}

/// What ended a strand.
///
/// A zero-length strand that follows a create at once is merged into the strand before it, so a
/// strand can create several tasks at its end (see [`Tasks::creator`](crate::Tasks::creator)) and
/// then still end in a wait, a yield, a signal or the task's end.
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
