//! The budget's decision about a task that begins.

use std::cell::Cell;
use std::ptr;

use workspan_recorder::adapter::LiveHandle;
use workspan_recorder::budget::{Choice, JoinTicket, TASK_CLASS};

use super::SkippedTbbTask;
use crate::overhead_budget;
use crate::skipped_subtree::Subtree;
use crate::tbb::call_site;
use crate::tbb::task::RunGuard;
use crate::tbb::task_frame::{TaskFrame, stacks_may_move};

/// A task that the budget decided about.
struct BudgetTicket {
    begun: JoinTicket,
    thread: u32,
    /// The number of tasks that its thread had created before.
    tasks: u64,
}

impl Drop for BudgetTicket {
    fn drop(&mut self) {
        // SAFETY: only this block uses the handle.
        let h = unsafe { LiveHandle::current() };
        if let Some(h) = h.filter(|h| h.thread() == self.thread) {
            overhead_budget::end(h, self.begun, h.created_tasks() - self.tasks);
        }
    }
}

/// Exists while the frame's task is skipped. Dropped when its code is left, also by an exception.
struct SkipGuard<'a> {
    frame: *mut TaskFrame,
    left_out: &'a SkippedTbbTask,
}

impl Drop for SkipGuard<'_> {
    fn drop(&mut self) {
        // SAFETY: the frame lives until its task has ended; this runs in the code of that task, on
        // whatever thread its stack is now.
        unsafe {
            (*self.frame).skip = ptr::null();
            self.left_out.subtree.stop();
        }
    }
}

/// Whether the budget decides about the frame's task, which begins. Subtrees cannot be interrupted
/// where stacks leave their threads.
///
/// # Safety
/// `frame` is the new innermost one.
#[inline]
pub(in crate::tbb) unsafe fn asks(frame: *mut TaskFrame) -> bool {
    // SAFETY: the caller guarantees the frame.
    unsafe { (*frame).whole == 0 && overhead_budget::asks() && !stacks_may_move() }
}

/// Asks the budget, and runs the frame's task, which has begun with the thread's last record, until
/// `end` has recorded its end.
///
/// # Safety
/// `h` is the calling thread's live handle, `frame` its innermost.
#[cold]
#[inline(never)]
pub(in crate::tbb) unsafe fn ask<T>(
    h: LiveHandle,
    frame: *mut TaskFrame,
    run: impl FnOnce() -> T,
    end: RunGuard,
) -> T {
    // SAFETY: the caller guarantees handle and frame.
    unsafe {
        let (site, level) = (call_site::like((*frame).site), (*frame).level);
        let Some((choice, begun)) = overhead_budget::ask(h, site, level) else {
            let result = run();
            drop(end);
            return result;
        };
        let asked = BudgetTicket {
            begun,
            thread: h.thread(),
            tasks: h.created_tasks(),
        };
        // They are dropped in this order, also during unwinding.
        let (asked, end) = (asked, end);
        let result = match choice {
            Choice::Skip => {
                let left_out = SkippedTbbTask {
                    subtree: Subtree::begin(h, site, level),
                    context: Cell::new((*frame).context),
                    site: Cell::new((*frame).site),
                };
                (*frame).skip = &raw const left_out;
                let over = SkipGuard {
                    frame,
                    left_out: &left_out,
                };
                let result = run();
                drop(over);
                result
            }
            Choice::Enter => run(),
            Choice::Learn | Choice::Sample => {
                h.sample_begin(site, TASK_CLASS + begun.recorded_level());
                (*frame).whole = site;
                run()
            }
        };
        drop(end);
        drop(asked);
        result
    }
}
