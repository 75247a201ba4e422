//! The closed list of causes.

/// Why a worker-tick was lost. docs/causes.md defines each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Cause {
    /// A serial part of the program: everything waited for this strand.
    SerialStrand,
    /// One task creates the tasks one after the other, more slowly than the workers run them.
    SpawnLoop,
    /// The tasks are so small that taking or recording one costs about as much as running it.
    GrainFine,
    /// Too few or too long tasks: at the end of a phase, workers are idle while the last tasks run.
    GrainCoarse,
    /// A strand was ready and a worker free for longer than a few steals take.
    SlowThief,
    /// A wait was over, but its thread ran an unrelated task above it.
    BuriedWait,
    /// The runtime ran a new task on its creator's thread at once, so the creator stopped creating.
    BoundedQueue,
    /// The free workers waited inside other tasks, where their runtime lets them run only
    /// descendants of those.
    RestrainedStealing,
    /// The same work took longer than in a serial run.
    Stretch,
    /// A strand could have run, but other programs had the CPUs.
    Descheduled,
    /// A strand could have run, but more threads of the program wanted to run than there are CPUs.
    Oversubscribed,
    /// A strand waited for a lock that another thread held.
    Lock,
    /// A strand waited for a lock whose holder waited in a join meanwhile.
    LockAcrossJoin,
    /// A strand waited for another thread's signal: the other end of a channel, a condition.
    Channel,
    /// A strand waited for a file, a socket, a pipe.
    Io,
    /// A strand slept for a time.
    Sleep,
    /// A strand waited for another rank, in a call of MPI.
    LateRank,
    /// A strand gave up the CPU for another or an unknown reason.
    Blocked,
    /// A thread waited for threads that the trace has no records of.
    OtherThreads,
    /// The free workers belonged to another pool.
    OtherPool,
    /// A thread that the program started had not begun to run.
    ThreadStart,
    /// Another cause, or an unknown one.
    None,
}

impl Cause {
    /// All of them, in the order of `Cause as usize`.
    pub const ALL: [Cause; 22] = [
        Cause::SerialStrand,
        Cause::SpawnLoop,
        Cause::GrainFine,
        Cause::GrainCoarse,
        Cause::SlowThief,
        Cause::BuriedWait,
        Cause::BoundedQueue,
        Cause::RestrainedStealing,
        Cause::Stretch,
        Cause::Descheduled,
        Cause::Oversubscribed,
        Cause::Lock,
        Cause::LockAcrossJoin,
        Cause::Channel,
        Cause::Io,
        Cause::Sleep,
        Cause::LateRank,
        Cause::Blocked,
        Cause::OtherThreads,
        Cause::OtherPool,
        Cause::ThreadStart,
        Cause::None,
    ];

    /// True for losses through the load of the machine: they depend on what else used the CPUs, not
    /// on what the program did.
    pub fn is_load(self) -> bool {
        matches!(self, Cause::Descheduled | Cause::Oversubscribed)
    }

    /// True if a strand had given up the CPU, for whatever reason.
    pub fn is_blocked(self) -> bool {
        matches!(
            self,
            Cause::Lock
                | Cause::LockAcrossJoin
                | Cause::Channel
                | Cause::Io
                | Cause::Sleep
                | Cause::LateRank
                | Cause::Blocked
        )
    }

    /// True if the strand waited for what another thread of the process does, or may have done so.
    pub(super) fn waits_for_a_thread(self) -> bool {
        matches!(
            self,
            Cause::Lock | Cause::LockAcrossJoin | Cause::Channel | Cause::Blocked
        )
    }

    /// The name in JSON and in `workspan help`.
    pub fn id(self) -> &'static str {
        match self {
            Cause::SerialStrand => "serial-strand",
            Cause::SpawnLoop => "spawn-loop",
            Cause::GrainFine => "grain-fine",
            Cause::GrainCoarse => "grain-coarse",
            Cause::SlowThief => "slow-thief",
            Cause::BuriedWait => "buried-wait",
            Cause::BoundedQueue => "bounded-queue",
            Cause::RestrainedStealing => "restrained-stealing",
            Cause::Stretch => "stretch",
            Cause::Descheduled => "descheduled",
            Cause::Oversubscribed => "oversubscription",
            Cause::Lock => "lock",
            Cause::LockAcrossJoin => "lock-across-join",
            Cause::Channel => "channel",
            Cause::Io => "io",
            Cause::Sleep => "sleep",
            Cause::LateRank => "late-rank",
            Cause::Blocked => "blocked",
            Cause::OtherThreads => "other-threads",
            Cause::OtherPool => "other-pool",
            Cause::ThreadStart => "thread-start",
            Cause::None => "none",
        }
    }
}
