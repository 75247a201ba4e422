//! What does not fit into a subtree that is left out, and is recorded in the middle of it.

use std::ptr;

use super::{LeftOut, left_out};
use crate::overhead_budget;
use crate::tbb::task_frame::TaskFrame;

/// Whether a task that the frame's task creates into `context` (0: into none) is outside of the
/// subtree that is left out, or that is recorded to stand for those left out.
///
/// # Safety
/// `frame` is the calling thread's innermost; the context was made in no unrecorded subtree.
#[inline]
pub(in crate::tbb) unsafe fn leaves(frame: *mut TaskFrame, context: usize) -> bool {
    // SAFETY: the caller's; parents outlive their children.
    unsafe {
        let is_whole = || {
            let parent = (*frame).parent.as_ref();
            (*frame).whole != 0 && parent.is_none_or(|parent| parent.whole == 0)
        };
        !(*frame).skip.is_null() || is_whole() && (context == 0 || (*frame).is_in(context))
    }
}

/// While something that is more than tasks and waits is recorded, or that concerns others than the
/// subtree's.
pub(in crate::tbb) struct Paused {
    frame: *mut TaskFrame,
    skip: *const LeftOut,
}

impl Paused {
    /// Something of that kind begins in the current task: what it is in is recorded meanwhile, and
    /// its site's tasks are from now on.
    ///
    /// # Safety
    /// `frame` is the calling thread's innermost.
    #[inline]
    pub(in crate::tbb) unsafe fn new(frame: *mut TaskFrame) -> Paused {
        // SAFETY: the caller's.
        unsafe {
            let skip = (*frame).skip;
            if !skip.is_null() || (*frame).whole != 0 {
                Paused::begin(frame);
            }
            Paused { frame, skip }
        }
    }

    /// The same, if the current task is left out.
    ///
    /// # Safety
    /// As [`Paused::new`].
    #[inline]
    pub(in crate::tbb) unsafe fn if_left_out(frame: *mut TaskFrame) -> Option<Paused> {
        // SAFETY: the caller's.
        unsafe { (!(*frame).skip.is_null()).then(|| Paused::new(frame)) }
    }

    #[cold]
    unsafe fn begin(frame: *mut TaskFrame) {
        // SAFETY: as in `new`.
        unsafe {
            if (*frame).whole != 0 {
                overhead_budget::refuse((*frame).whole);
            }
            if let Some(left_out) = left_out(frame) {
                overhead_budget::refuse(left_out.subtree.site());
                left_out.subtree.stop();
                (*frame).skip = ptr::null();
            }
        }
    }
}

impl Drop for Paused {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: in the same task, wherever its stack has come to.
        unsafe {
            if let Some(left_out) = self.skip.as_ref() {
                left_out.subtree.go_on();
                (*self.frame).skip = self.skip;
            }
        }
    }
}
