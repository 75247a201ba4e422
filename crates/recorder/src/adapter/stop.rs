//! Tasks that stop and go on, on this thread or on another one.

use super::operands::{optional, record_at};
use super::{resume, resume_at, root};
use crate::front::{HAS_ROOT, Handle, id};
use crate::thread;
use crate::wire::Kind;

/// The current task stops for nobody and stays on this stack, to go on with [`resume`].
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn yield_task(h: *mut Handle, site: u32) -> u64 {
    // SAFETY: the caller's.
    unsafe {
        root(h);
        Handle::event_with(h, Kind::Yield, [optional(site)]);
        next_yield(h)
    }
}

/// The current task leaves this thread: it stops for nobody, or, right after a wait, goes on waiting. It goes on where
/// [`resume_left`] names the number returned.
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn leave(h: *mut Handle, site: u32) -> u64 {
    // SAFETY: the caller's.
    unsafe {
        Handle::event_with(h, Kind::Leave, [optional(site)]);
        if thread::depth(h) > 0 {
            thread::deepen(h, -1);
        } else {
            (*h).flags &= !HAS_ROOT;
        }
        next_yield(h)
    }
}

/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub(super) unsafe fn next_yield(h: *mut Handle) -> u64 {
    // SAFETY: the caller's.
    unsafe {
        let count = (*h).next_yield;
        (*h).next_yield = count + 1;
        id::new((*h).thread, count)
    }
}

/// A task that left a thread goes on here, on top of the stack.
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn resume_left(h: *mut Handle, stop: u64) {
    let (thread, count) = id::split(stop).unwrap_or((u32::MAX, 0));
    // SAFETY: the caller's.
    unsafe {
        thread::deepen(h, 1);
        Handle::event_with(h, Kind::ResumeYielded, [u64::from(thread), count]);
    }
}

/// Where and when a task stopped, by which it goes on wherever its stack has come to ([`go_on`]).
#[derive(Debug, Clone, Copy)]
pub struct Stop {
    /// The thread whose record the stop is.
    thread: u32,
    /// The height of that thread's stack of tasks.
    depth: u32,
    /// The time of the record.
    at: u64,
}

/// The stop that the thread's last record, a wait or a yield, told.
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn stopped(h: *mut Handle) -> Stop {
    // SAFETY: the caller's.
    unsafe {
        Stop {
            thread: (*h).thread,
            depth: thread::depth(h),
            at: (*h).last,
        }
    }
}

/// The task of that stop goes on here: at the time of the thread's last record if `at_once` and its place is the top of this
/// thread's stack, as it is unless the runtime has moved it.
///
/// A place on top of others is given up by an end alone, so the height tells whether the stopped task is on top.
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn go_on(h: *mut Handle, stop: Stop, at_once: bool) {
    // SAFETY: the caller's.
    unsafe {
        if !is_on_top(h, stop) {
            resume_stopped(h, stop);
        } else if at_once {
            resume_at(h, (*h).last);
        } else {
            resume(h);
        }
    }
}

/// The task of that stop, which waits for this signal, goes on here. Its thread may not have told of the stop yet.
///
/// # Safety
/// `h` is the calling thread's live handle.
pub unsafe fn go_on_signalled(h: *mut Handle, stop: Stop, signal: u64) {
    // SAFETY: the caller's.
    unsafe {
        if is_on_top(h, stop) {
            resume(h);
        } else {
            thread::deepen(h, 1);
            Handle::event_with(h, Kind::ResumeStopped, [0, signal]);
        }
    }
}

/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
unsafe fn is_on_top(h: *mut Handle, stop: Stop) -> bool {
    // SAFETY: the caller's.
    unsafe { (*h).thread == stop.thread && thread::depth(h) == stop.depth }
}

/// # Safety
/// `h` is the calling thread's live handle.
#[cold]
unsafe fn resume_stopped(h: *mut Handle, stop: Stop) {
    // SAFETY: the caller's.
    unsafe {
        thread::deepen(h, 1);
        // Two threads' clocks may differ by a little.
        let now = Handle::now(h).max((*h).last).max(stop.at);
        let operands = [u64::from(stop.thread) + 1, now - stop.at];
        record_at(h, Kind::ResumeStopped, now, operands);
    }
}
