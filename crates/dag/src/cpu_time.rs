//! The CPU time that the process used, by a clock that recording has nothing to do with: what a
//! report's work is held against.

use crate::dag::ThreadId;

/// What is known of the process's CPU time, from the start of its recording to its end, in
/// nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CpuTimes {
    /// All of it, by the process's own clock; `None` where the process did not come to an orderly
    /// end.
    pub process: Option<u64>,
    /// By thread of the run, what its switches add up to; empty where nobody watched them.
    pub threads: Vec<(ThreadId, u64)>,
    /// Part of it on threads that no runtime knew, or did not know yet.
    pub outside: u64,
    /// The number of threads that no runtime ever knew.
    pub outside_threads: u64,
    /// Part of it on threads of a runtime that ran no task.
    pub idle: u64,
    /// Part of it in which threads waited for other ranks in calls of MPI and asked for them again
    /// and again: blocked time of strands.
    pub polling: u64,
    /// The function, by samples, that most of `outside` was spent in.
    pub outside_in: Option<String>,
    /// Switches that are missing: what they add up to is not exact.
    pub missing: u64,
    /// The number of times that all threads together came onto a CPU; 0 if the trace does not say.
    pub switches: u64,
}

impl CpuTimes {
    /// What the switches of all threads add up to.
    pub fn of_threads(&self) -> u64 {
        let known = self.threads.iter().map(|thread| thread.1);
        known.fold(self.outside.saturating_add(self.idle), u64::saturating_add)
    }
}
