//! Tasks outside of a section that are ready to run.
//!
//! While workers are idle, ready tasks count as delay, but no more of them than there are idle
//! workers (MODEL.md §5). A task that its thread created before the section and begins after it is
//! ready all the time in between. If there is such a task for each idle worker, ready tasks inside
//! of the section change nothing.

use crate::Fold;
use crate::section::Section;

/// The thread's tasks that have not begun, and the idle workers.
#[derive(Debug, Default)]
pub(crate) struct ReadyTasks {
    /// The number of tasks created here that have not begun and that no other thread will run.
    waiting: u64,
    /// Create counts of the tasks that other threads run, in descending order.
    taken: Vec<u64>,
    /// The number of idle workers, and the length in ticks below which a section may be folded
    /// regardless of them.
    idle: (u32, u64),
}

impl Fold {
    /// Names the thread's tasks that other threads run, by create count in ascending order. Call it
    /// before the first record.
    pub fn others_take(&mut self, mut taken: Vec<u64>) {
        taken.reverse();
        self.outside.taken = taken;
    }

    /// Sets the number of idle workers from now on.
    pub(crate) fn set_idle(&mut self, workers: u32, short: u64) {
        self.outside.idle = (workers, short);
    }

    /// The task with this create count is ready, or will be.
    #[inline]
    pub(crate) fn waits_outside(&mut self, seq: u64) {
        let taken = &mut self.outside.taken;
        while taken.pop_if(|&mut next| next < seq).is_some() {}
        if taken.pop_if(|&mut next| next == seq).is_none() {
            self.outside.waiting += 1;
        }
    }

    /// One of the ready tasks begins on this thread.
    #[inline]
    pub(crate) fn waits_no_more(&mut self) {
        self.outside.waiting = self.outside.waiting.saturating_sub(1);
    }

    /// The number of ready tasks.
    #[inline]
    pub(crate) fn waiting(&self) -> u64 {
        self.outside.waiting
    }

    /// The length, in ticks, below which a section may be folded. An inner section's limit is never
    /// below that of an outer one, because it has at least as many ready tasks outside of it.
    #[inline]
    pub(crate) fn grain_of(&self, section: &Section) -> u64 {
        let (workers, short) = self.outside.idle;
        let grain = self.options.grain;
        if section.outside >= u64::from(workers) {
            grain
        } else {
            grain.min(short)
        }
    }
}
