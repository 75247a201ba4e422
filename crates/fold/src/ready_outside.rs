//! Tasks that stand ready outside of a section.
//!
//! While workers are idle the tasks that stand ready count, but no more of them than there are idle
//! workers (MODEL.md §5). A task that its thread created before the section and begins after it
//! stands ready all the time in between, so where there is one for each idle worker, whatever
//! stands ready inside of the section changes nothing.

use crate::Fold;
use crate::section::Section;

/// What is known of the thread's tasks and of the other workers.
#[derive(Debug, Default)]
pub(crate) struct Outside {
    /// Tasks created here that have not begun, but for those that another thread will run.
    waiting: u64,
    /// Counts of creates that other threads run, descending.
    taken: Vec<u64>,
    /// Workers that are idle, and in ticks what may be folded without a look at them.
    idle: (u32, u64),
}

impl Fold {
    /// The thread's creates of these counts, ascending, are run by other threads. To be told before
    /// the first record.
    pub fn others_take(&mut self, mut taken: Vec<u64>) {
        taken.reverse();
        self.outside.taken = taken;
    }

    /// So many workers are idle from now on.
    pub(crate) fn set_idle(&mut self, workers: u32, short: u64) {
        self.outside.idle = (workers, short);
    }

    /// The thread's create of this count stands ready, or will.
    #[inline]
    pub(crate) fn waits_outside(&mut self, seq: u64) {
        let taken = &mut self.outside.taken;
        while taken.pop_if(|&mut next| next < seq).is_some() {}
        if taken.pop_if(|&mut next| next == seq).is_none() {
            self.outside.waiting += 1;
        }
    }

    /// One of them begins here.
    #[inline]
    pub(crate) fn waits_no_more(&mut self) {
        self.outside.waiting = self.outside.waiting.saturating_sub(1);
    }

    /// How many stand ready.
    #[inline]
    pub(crate) fn waiting(&self) -> u64 {
        self.outside.waiting
    }

    /// Below how many ticks a section may be folded. No section may be longer than one inside of
    /// it: that has as many tasks outside, or more.
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
