//! The pools of a run that had several at the same time. A worker takes only tasks of its own pool.

use crate::dag::ThreadId;

/// A pool.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pool {
    /// Number of its workers.
    pub size: u32,
    /// When it began to exist, in ticks.
    pub from: u64,
    /// When it ceased to exist, in ticks.
    pub to: u64,
    /// Where the program built it, as a label of a place; `None` if the program did not build it,
    /// or the place is not known.
    pub built: Option<String>,
}

/// An interval in which a thread was a worker of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Member {
    /// The thread.
    pub thread: ThreadId,
    /// Start of the interval, in ticks.
    pub from: u64,
    /// End of the interval, in ticks.
    pub to: u64,
    /// Index into [`Pools::list`].
    pub pool: u32,
}

/// The pools of a run, and the threads that were their workers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pools {
    /// The pools, by the time at which they began.
    pub list: Vec<Pool>,
    /// The memberships, by thread, then time.
    pub members: Vec<Member>,
}

impl Pools {
    /// Whether two pools existed at the same time.
    pub fn are_several(&self) -> bool {
        let mut until = 0;
        self.list.iter().any(|pool| {
            let overlaps = pool.from < until;
            until = until.max(pool.to);
            overlaps
        })
    }

    /// The pool that `thread` was a worker of at `time`.
    pub fn of(&self, thread: ThreadId, time: u64) -> Option<u32> {
        let after = self
            .members
            .partition_point(|m| (m.thread, m.from) <= (thread, time));
        let member = self.members.get(after.checked_sub(1)?)?;
        (member.thread == thread && time <= member.to).then_some(member.pool)
    }
}
