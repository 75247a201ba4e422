//! The pools of a run in which there were several at one moment: a worker takes the tasks of its
//! own pool alone.

use crate::dag::ThreadId;

/// A pool.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pool {
    /// Its workers.
    pub size: u32,
    /// When it was there, in ticks.
    pub from: u64,
    /// See `from`.
    pub to: u64,
    /// Where the program built it, as a label of a place; `None` where it did not, or that is not
    /// known.
    pub built: Option<String>,
}

/// A time in which a thread was a worker of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Member {
    /// The thread.
    pub thread: ThreadId,
    /// From when on, in ticks.
    pub from: u64,
    /// Until when.
    pub to: u64,
    /// Index into [`Pools::list`].
    pub pool: u32,
}

/// The pools of a run, and whose workers its threads were.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pools {
    /// By the time at which they began.
    pub list: Vec<Pool>,
    /// By thread, then time.
    pub members: Vec<Member>,
}

impl Pools {
    /// Whether there were two at one moment.
    pub fn are_several(&self) -> bool {
        let mut until = 0;
        self.list.iter().any(|pool| {
            let beside = pool.from < until;
            until = until.max(pool.to);
            beside
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
