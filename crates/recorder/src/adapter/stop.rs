//! Tasks that stop without a wait, and resume on this thread or on another one.

use super::LiveHandle;
use super::operands::optional;
use crate::abi::id;
use crate::wire::Kind;

/// Where and when a task stopped. It names the stop wherever the runtime moves the task's stack
/// ([`LiveHandle::go_on`]).
#[derive(Debug, Clone, Copy)]
pub struct Stop {
    /// The thread that recorded the stop.
    thread: u32,
    /// The height of that thread's stack of tasks.
    depth: u32,
    /// The time of the record.
    at: u64,
}

impl LiveHandle {
    /// The current task yields: it stops, waits for nothing and stays on this stack. It goes on
    /// with [`LiveHandle::resume`].
    #[inline]
    pub fn yield_task(self, site: u32) -> u64 {
        self.ensure_root();
        self.event(Kind::Yield, [optional(site)]);
        self.number_yield()
    }

    /// The current task leaves this thread. Right after a wait it keeps waiting, otherwise it waits
    /// for nothing. It goes on where [`LiveHandle::resume_left`] is called with the returned
    /// number.
    #[inline]
    pub fn leave(self, site: u32) -> u64 {
        self.event(Kind::Leave, [optional(site)]);
        if self.depth() > 0 {
            self.deepen(-1);
        } else {
            self.lose_root();
        }
        self.number_yield()
    }

    /// A task that left a thread goes on here, on top of the stack.
    #[inline]
    pub fn resume_left(self, stop: u64) {
        let (thread, count) = id::split(stop).unwrap_or((u32::MAX, 0));
        self.deepen(1);
        self.event(Kind::ResumeYielded, [u64::from(thread), count]);
    }

    /// The stop of the thread's last record, which is a wait or a yield.
    #[inline]
    pub fn stopped(self) -> Stop {
        Stop {
            thread: self.thread(),
            depth: self.depth(),
            at: self.last(),
        }
    }

    /// The task of that stop goes on here. If `at_once` is set and the task is on top of this
    /// thread's stack, it does so at the time of the thread's last record. The task is on top
    /// unless the runtime has moved it.
    ///
    /// Only an end gives up a place that has others below it, so the height of the stack tells
    /// whether the stopped task is on top.
    #[inline]
    pub fn go_on(self, stop: Stop, at_once: bool) {
        if !self.is_on_top(stop) {
            self.resume_stopped(stop);
        } else if at_once {
            self.resume_at(self.last());
        } else {
            self.resume();
        }
    }

    /// The task of that stop, which waits for this signal, goes on here. Its old thread may not
    /// have recorded the stop yet.
    #[inline]
    pub fn go_on_signalled(self, stop: Stop, signal: u64) {
        if self.is_on_top(stop) {
            self.resume();
        } else {
            self.deepen(1);
            self.event(Kind::ResumeStopped, [0, signal]);
        }
    }

    #[inline]
    fn is_on_top(self, stop: Stop) -> bool {
        self.thread() == stop.thread && self.depth() == stop.depth
    }

    #[cold]
    fn resume_stopped(self, stop: Stop) {
        self.deepen(1);
        // The clocks of two threads may differ a little.
        let now = self.now().max(self.last()).max(stop.at);
        let operands = [u64::from(stop.thread) + 1, now - stop.at];
        self.record_at(Kind::ResumeStopped, now, operands);
    }
}
