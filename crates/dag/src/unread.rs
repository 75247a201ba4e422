//! The time after which a partly read trace lacks the strands of some worker.
//!
//! A thread's records are read without a gap up to the first missing one. Everything that the
//! thread did before the end of its last strand is therefore known, and nothing after it.

use crate::Dag;

impl Dag {
    /// The earliest end of a pool thread's last strand; 0 if a pool thread has no strand. After
    /// this time the reason for a worker without a strand is not known, because the strands that it
    /// waited for may be missing. `None` if the whole trace was read, and for a section, whose
    /// threads have strands outside of it. O(strands).
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
