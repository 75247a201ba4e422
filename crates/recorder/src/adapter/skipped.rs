//! Skipped subtrees ([`crate::budget`]), their stolen parts, and the subtrees sampled to stand for
//! them.

use super::LiveHandle;
use crate::abi::id;
use crate::wire::{Kind, wait};

impl LiveHandle {
    /// From time `now` on the current task is in a skipped subtree of that class, until
    /// [`LiveHandle::skip_end`]. Returns the subtree's name.
    pub fn skip_begin(self, site: u32, level: u64, now: u64) -> u64 {
        self.record_at(Kind::SkipBegin, now, [u64::from(site), level]);
        self.number_yield()
    }

    /// The skipped subtree has ended. Returns the time.
    pub fn skip_end(self) -> u64 {
        self.event(Kind::SkipEnd, [])
    }

    /// Records the number of tasks of the current task's skipped subtree that have begun on this
    /// thread since the open strand did. Must come right before the record that ends the strand.
    pub fn skipped_tasks(self, tasks: u64) {
        self.record_at(Kind::SkippedTasks, self.last(), [tasks]);
    }

    /// The current task, which has just begun, is sampled to represent its class.
    pub fn sample_begin(self, site: u32, level: u64) {
        self.record_at(Kind::SampleBegin, self.last(), [u64::from(site), level]);
    }

    /// A task that was created in that skipped subtree begins on top of the thread's stack. Returns
    /// the time.
    pub fn stolen_part_begin(self, subtree: u64, site: u32) -> u64 {
        let (thread, count) = id::split(subtree).unwrap_or((u32::MAX, 0));
        self.deepen(1);
        let now = self.now();
        let operands = [u64::from(thread), count, u64::from(site)];
        self.record_at(Kind::StolenPart, now, operands);
        self.number_task();
        now
    }

    /// The current task, in a skipped subtree, waits for stolen parts of it. It goes on with
    /// [`LiveHandle::resume`].
    pub fn wait_parts_at(self, now: u64) {
        self.record_at(Kind::Wait, now, [0, wait::PARTS]);
    }
}
