//! The overhead budget ([`crate::overhead_budget`]) for oneTBB's tasks. The budget decides whether
//! a task is skipped when the task begins, and tasks created inside then carry the subtree's name.
//!
//! A context that is created in a subtree carries its name too, so tasks that other threads later
//! create into it, such as stolen pieces of a loop, are known to be parts. Tasks created elsewhere,
//! and all constructs other than creating tasks and waiting, interrupt the subtree
//! ([`PausedSkip`]).
//!
//! The budget decides only about tasks that have done all their work when they end, such as those
//! of a group. Pieces of a loop pass on the rest of it instead. They are either recorded one by
//! one, or skipped together with a skipped task around them.

mod pause;
mod ticket;

use std::cell::Cell;

use workspan_recorder::adapter::LiveHandle;

use super::call_site::{self, Call};
use super::task::{self, Body, Execution, Task};
use super::task_class::TaskClass;
use super::task_frame::{FrameKind, TaskFrame, ThreadState, current_thread, link, top};
use super::{become_worker, context};
use crate::skipped_subtree::{self, Subtree};

pub(super) use pause::{PausedSkip, leaves};
pub(super) use ticket::{ask, asks};

/// The bit in the word of a task's site for a task that was created in a skipped subtree and whose
/// number is the subtree's name. Its level is above the site's 32 bits.
const UNRECORDED: u64 = 1 << 63;
const LEVELS: u32 = (1 << 31) - 1;

/// The word of a recorded task.
#[inline]
pub(super) fn word(site: u32, level: u32) -> u64 {
    u64::from(site) | u64::from(level & LEVELS) << 32
}

/// The number of creates between the root and a task with this word.
#[inline]
pub(super) fn level(word: u64) -> u32 {
    (word >> 32) as u32 & LEVELS
}

/// A task that is skipped with everything that runs in it on its thread.
pub(super) struct SkippedTbbTask {
    subtree: Subtree,
    /// Context and site of its task that is running.
    context: Cell<usize>,
    site: Cell<u32>,
}

/// One of its tasks runs. Restores the data of the task below, also after an exception.
struct RunGuard<'a> {
    left_out: &'a SkippedTbbTask,
    context: usize,
    site: u32,
}

impl Drop for RunGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        self.left_out.context.set(self.context);
        self.left_out.site.set(self.site);
    }
}

/// The skipped task around the frame's task.
///
/// # Safety
/// `frame` is null or the calling thread's innermost.
#[inline]
unsafe fn left_out<'a>(frame: *const TaskFrame) -> Option<&'a SkippedTbbTask> {
    // SAFETY: the caller guarantees the frame; a skipped task outlives everything that runs in it.
    unsafe { frame.as_ref()?.skip.as_ref() }
}

/// The name that a new context carries.
#[inline]
pub(super) fn made() -> u64 {
    // SAFETY: the state is this thread's, and so are its tasks.
    unsafe { left_out(link(current_thread())).map_or(0, |left_out| left_out.subtree.name()) }
}

/// A task is created into a context that was created in the subtree with this name: it is not
/// recorded.
///
/// # Safety
/// The same as for [`task::spawn`]; `frame` is the calling thread's innermost.
#[inline]
pub(super) unsafe fn create(
    frame: *mut TaskFrame,
    task: *mut Task,
    context: usize,
    name: u64,
    call: Call,
) {
    // SAFETY: the caller guarantees task and frame.
    unsafe {
        let Some(class) = TaskClass::from_task(task) else {
            return;
        };
        let (inherited, level) = match left_out(frame) {
            Some(left_out) => {
                let is_member = left_out.context.get() == context;
                let site = if is_member { left_out.site.get() } else { 0 };
                (site, left_out.subtree.level())
            }
            None if (*frame).is_in(context) => ((*frame).site, (*frame).level),
            None => (0, (*frame).level),
        };
        let site = if inherited != 0 && !class.users {
            inherited
        } else {
            call_site::brief(call, class)
        };
        mark(task, class, name, site, level + 1);
    }
}

/// # Safety
/// `task` is a live task that no thread runs yet.
#[inline]
unsafe fn mark(task: *mut Task, class: &TaskClass, name: u64, site: u32, level: u32) {
    // SAFETY: the caller guarantees the task.
    unsafe {
        (*task).number = name;
        (*task).site = word(site, level) | UNRECORDED;
        (*task).table = class.table();
    }
}

/// Runs a task that was created in a skipped subtree; `None` if it was not.
///
/// # Safety
/// `task` is one that libtbb runs now; `slot` is one of its table's entries.
#[inline]
pub(super) unsafe fn run(task: *mut Task, data: *mut Execution, slot: usize) -> Option<*mut Task> {
    // SAFETY: the caller guarantees the task. Its fields are read before its body runs, which may
    // free it.
    unsafe {
        let (word, name) = ((*task).site, (*task).number);
        if word & UNRECORDED == 0 {
            return None;
        }
        let (class, body) = task::restored(task, slot);
        let left_out =
            left_out(link(current_thread())).filter(|left_out| left_out.subtree.name() == name);
        Some(match left_out {
            Some(left_out) => left_out.run(task, data, body, word),
            None => {
                let run = || body(task, data);
                run_as_part(name, class.whole, (*data).context, word, run)
            }
        })
    }
}

impl SkippedTbbTask {
    /// Runs one of its tasks on its thread.
    ///
    /// # Safety
    /// The same as for [`run`].
    #[inline]
    unsafe fn run(
        &self,
        task: *mut Task,
        data: *mut Execution,
        body: Body,
        word: u64,
    ) -> *mut Task {
        // SAFETY: the caller guarantees the task.
        unsafe {
            let context = (*data).context;
            let inside = RunGuard {
                left_out: self,
                context: self.context.replace(context),
                site: self.site.replace(word as u32),
            };
            let next = self.subtree.task(level(word), || {
                let next = body(task, data);
                if !next.is_null() {
                    let frame = top(current_thread());
                    create(frame, next, context, self.subtree.name(), Call::NONE);
                }
                next
            });
            drop(inside);
            next
        }
    }
}

/// Runs the task if the thread is not inside of its subtree.
#[cold]
#[inline(never)]
unsafe fn run_as_part(
    name: u64,
    may_ask: bool,
    context: usize,
    word: u64,
    run: impl FnOnce() -> *mut Task,
) -> *mut Task {
    // SAFETY: only this callback uses the handle.
    let h = unsafe { LiveHandle::current() };
    // SAFETY: as in `run`; handle and state are this thread's.
    unsafe {
        let Some(h) = h else {
            return run();
        };
        let thread = current_thread();
        if !(*thread).worker {
            become_worker(h, thread);
        }
        suspend(thread);
        skipped_subtree::part(h, name, word as u32);
        let frame = TaskFrame {
            kind: FrameKind::Task,
            context,
            site: word as u32,
            level: level(word),
            ..TaskFrame::BOTTOM
        };
        task::run_in(h, thread, frame, may_ask, run)
    }
}

/// A task begins on top of the thread's other work. If that is skipped, it is suspended.
///
/// # Safety
/// `thread` is the calling thread's state.
#[inline]
pub(super) unsafe fn suspend(thread: *mut ThreadState) {
    // SAFETY: the caller guarantees the state.
    unsafe {
        if let Some(left_out) = left_out(link(thread)) {
            left_out.subtree.suspend();
        }
    }
}

/// The subtree in which libtbb waits for tasks of a context, if both the context and the wait are
/// in one.
///
/// # Safety
/// `frame` is null or the calling thread's innermost, `context` a live context.
#[inline]
pub(super) unsafe fn waiting<'a>(frame: *mut TaskFrame, context: usize) -> Option<&'a Subtree> {
    // SAFETY: the caller guarantees frame and context.
    unsafe {
        let left_out = left_out(frame)?;
        (context::inside(context) != 0).then_some(&left_out.subtree)
    }
}
