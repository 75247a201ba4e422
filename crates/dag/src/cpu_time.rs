//! The CPU time that the process used, by a clock that is independent of recording. Reports compare
//! their work with it.

use crate::dag::ThreadId;

/// CPU time of the process from the start of its recording to its end, in nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CpuTimes {
    /// CPU time of the whole process, by its own clock; `None` if the process did not end in an
    /// orderly way.
    pub process: Option<u64>,
    /// CPU time by thread of the run, as the sum of its context switches; empty if they were not
    /// recorded.
    pub threads: Vec<(ThreadId, u64)>,
    /// The part of it on threads that no runtime knew, or did not know yet.
    pub outside: u64,
    /// The number of threads that no runtime ever knew.
    pub outside_threads: u64,
    /// The part of it on threads of a runtime that ran no task.
    pub idle: u64,
    /// The part of it in which threads polled for other ranks in calls of MPI: blocked time of
    /// strands.
    pub polling: u64,
    /// The function in which most of `outside` was spent, by samples.
    pub outside_in: Option<String>,
    /// Number of context switches that are missing; if any are, the sums are not exact.
    pub missing: u64,
    /// The number of times that all threads together came onto a CPU; 0 if the trace does not say.
    pub switches: u64,
}

impl CpuTimes {
    /// Sum over the switches of all threads.
    pub fn of_threads(&self) -> u64 {
        let known = self.threads.iter().map(|thread| thread.1);
        known.fold(self.outside.saturating_add(self.idle), u64::saturating_add)
    }
}
