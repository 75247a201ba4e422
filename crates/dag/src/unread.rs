//! From when on a trace of which only a part could be read says nothing of some worker.
//!
//! A thread's records are read without a gap up to the first one that is missing. So whatever the
//! thread did before the end of its last strand is known, and nothing of what it did after that.

use crate::Dag;

impl Dag {
    /// The time from which on nothing was read of some pool thread: the end of the last strand of
    /// the one that ends first, or 0 where one has none. From then on it is not known why a worker
    /// without a strand has none: the strands it waited for may be among those that were not read.
    /// `None` where all of the trace was read, and of a section, whose threads have strands outside
    /// of it. O(strands).
    pub fn unread_from(&self) -> Option<u64> {
        if self.meta.unread.is_none() || self.meta.section.is_some() {
            return None;
        }
        let mut last = vec![0; self.meta.workers as usize];
        for (&thread, &end) in self.strands.thread.iter().zip(&self.strands.end) {
            if self.is_worker(thread) {
                let known = &mut last[thread as usize];
                *known = end.max(*known);
            }
        }
        last.into_iter().min()
    }
}
