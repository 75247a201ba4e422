//! Constructs that do not fit into a skipped subtree, and are recorded in the middle of it.

use std::ptr;

use super::{SkippedTbbTask, left_out};
use crate::overhead_budget;
use crate::tbb::task_frame::TaskFrame;

/// Whether a task that the frame's task creates into `context` (0: into none) is outside of the
/// skipped or sampled subtree.
///
/// # Safety
/// `frame` is the calling thread's innermost; the context was not created in a skipped subtree.
#[inline]
pub(in crate::tbb) unsafe fn leaves(frame: *mut TaskFrame, context: usize) -> bool {
    // SAFETY: the caller guarantees the frame; parents outlive their children.
    unsafe {
        let is_whole = || {
            let parent = (*frame).parent.as_ref();
            (*frame).whole != 0 && parent.is_none_or(|parent| parent.whole == 0)
        };
        !(*frame).skip.is_null() || is_whole() && (context == 0 || (*frame).is_in(context))
    }
}

/// Exists while a construct is recorded that is more than tasks and waits, or that involves tasks
/// outside of the subtree.
pub(in crate::tbb) struct PausedSkip {
    frame: *mut TaskFrame,
    skip: *const SkippedTbbTask,
}

impl PausedSkip {
    /// Begins such a construct in the current task: the subtree around it is interrupted, and the
    /// site's tasks are recorded from now on.
    ///
    /// # Safety
    /// `frame` is the calling thread's innermost.
    #[inline]
    pub(in crate::tbb) unsafe fn new(frame: *mut TaskFrame) -> PausedSkip {
        // SAFETY: the caller guarantees the frame.
        unsafe {
            let skip = (*frame).skip;
            if !skip.is_null() || (*frame).whole != 0 {
                PausedSkip::begin(frame);
            }
            PausedSkip { frame, skip }
        }
    }

    /// Like [`PausedSkip::new`], but only if the current task is skipped.
    ///
    /// # Safety
    /// The same as for [`PausedSkip::new`].
    #[inline]
    pub(in crate::tbb) unsafe fn if_left_out(frame: *mut TaskFrame) -> Option<PausedSkip> {
        // SAFETY: the caller guarantees the frame.
        unsafe { (!(*frame).skip.is_null()).then(|| PausedSkip::new(frame)) }
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

impl Drop for PausedSkip {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: in the same task, on whatever thread its stack is now.
        unsafe {
            if let Some(left_out) = self.skip.as_ref() {
                left_out.subtree.go_on();
                (*self.frame).skip = self.skip;
            }
        }
    }
}
