//! The overhead budget ([`crate::overhead_budget`]) in oneTBB's tasks: which task is left out is
//! asked when it begins, and what is created inside then carries the subtree's name.
//!
//! A context that is made in a subtree carries its name too: so tasks that others create into it
//! later, as a loop's do that were taken, are known to be parts. What goes elsewhere, and all that
//! is more than creating and waiting, interrupts the subtree ([`Paused`]).
//!
//! Only tasks are asked for that have run all that they stand for when they end, as a group's do. A
//! loop's pieces hand on what is left of it instead: recorded, they are so one by one; within a
//! task that is left out they are left out with it.

mod paused;
mod ticket;

use std::cell::Cell;

use workspan_recorder::adapter::LiveHandle;

use super::call_site::{self, Call};
use super::task::{self, Body, Execution, Task};
use super::task_class::TaskClass;
use super::task_frame::{FrameKind, TaskFrame, ThreadState, current_thread, link, top};
use super::{become_worker, context};
use crate::unrecorded::{self, Subtree};

pub(super) use paused::{Paused, leaves};
pub(super) use ticket::{ask, asks};

/// In the word of a task's site: it was created in an unrecorded subtree, and its number is the
/// subtree's name. Above the site's 32 bits stands its level.
const UNRECORDED: u64 = 1 << 63;
const LEVELS: u32 = (1 << 31) - 1;

/// The word of a task that is recorded.
#[inline]
pub(super) fn word(site: u32, level: u32) -> u64 {
    u64::from(site) | u64::from(level & LEVELS) << 32
}

/// Creates between the root and a task with that word.
#[inline]
pub(super) fn level(word: u64) -> u32 {
    (word >> 32) as u32 & LEVELS
}

/// A task that is left out with all that runs in it on its thread.
pub(super) struct LeftOut {
    subtree: Subtree,
    /// Context and site of that one of its tasks that runs.
    context: Cell<usize>,
    site: Cell<u32>,
}

/// One of its tasks runs; puts back what was said of the one below, after an exception too.
struct Inside<'a> {
    left_out: &'a LeftOut,
    context: usize,
    site: u32,
}

impl Drop for Inside<'_> {
    #[inline]
    fn drop(&mut self) {
        self.left_out.context.set(self.context);
        self.left_out.site.set(self.site);
    }
}

/// What is left out where the frame's task is.
///
/// # Safety
/// `frame` is null or the calling thread's innermost.
#[inline]
unsafe fn left_out<'a>(frame: *const TaskFrame) -> Option<&'a LeftOut> {
    // SAFETY: the caller's; a task that is left out outlives what runs in it.
    unsafe { frame.as_ref()?.skip.as_ref() }
}

/// A context is made: what it is to carry.
#[inline]
pub(super) fn made() -> u64 {
    // SAFETY: the state is this thread's, and so is what runs on it.
    unsafe { left_out(link(current_thread())).map_or(0, |left_out| left_out.subtree.name()) }
}

/// A task is to be created into a context that was made in the subtree of that name: it is not
/// recorded.
///
/// # Safety
/// As [`task::spawn`]; `frame` is the calling thread's innermost.
#[inline]
pub(super) unsafe fn create(
    frame: *mut TaskFrame,
    task: *mut Task,
    context: usize,
    name: u64,
    call: Call,
) {
    // SAFETY: the caller's.
    unsafe {
        let Some(class) = TaskClass::of(task) else {
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
/// `task` is a live task nobody runs yet.
#[inline]
unsafe fn mark(task: *mut Task, class: &TaskClass, name: u64, site: u32, level: u32) {
    // SAFETY: the caller's.
    unsafe {
        (*task).number = name;
        (*task).site = word(site, level) | UNRECORDED;
        (*task).table = class.table();
    }
}

/// Runs a task that was created in an unrecorded subtree; `None`: it is none.
///
/// # Safety
/// `task` is one that libtbb runs now; `slot` is one of its table's.
#[inline]
pub(super) unsafe fn run(task: *mut Task, data: *mut Execution, slot: usize) -> Option<*mut Task> {
    // SAFETY: the caller's. What belongs to the task is read before its body runs, which may free
    // it.
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

impl LeftOut {
    /// Runs one of its tasks on its thread.
    ///
    /// # Safety
    /// As [`run`].
    #[inline]
    unsafe fn run(
        &self,
        task: *mut Task,
        data: *mut Execution,
        body: Body,
        word: u64,
    ) -> *mut Task {
        // SAFETY: the caller's.
        unsafe {
            let context = (*data).context;
            let inside = Inside {
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

/// Runs it where its subtree is not what the thread is in.
#[cold]
#[inline(never)]
unsafe fn run_as_part(
    name: u64,
    may_ask: bool,
    context: usize,
    word: u64,
    run: impl FnOnce() -> *mut Task,
) -> *mut Task {
    // SAFETY: this callback alone uses the handle.
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
        set_aside(thread);
        unrecorded::part(h, name, word as u32);
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

/// Something begins on top of what the thread does; if that is left out, it waits.
///
/// # Safety
/// `here` is the calling thread's.
#[inline]
pub(super) unsafe fn set_aside(thread: *mut ThreadState) {
    // SAFETY: the caller's.
    unsafe {
        if let Some(left_out) = left_out(link(thread)) {
            left_out.subtree.set_aside();
        }
    }
}

/// Runs what waits in libtbb for tasks of a context, if that and the wait are in a subtree.
///
/// # Safety
/// `frame` is null or the calling thread's innermost, `context` a live context.
#[inline]
pub(super) unsafe fn waiting<'a>(frame: *mut TaskFrame, context: usize) -> Option<&'a Subtree> {
    // SAFETY: the caller's.
    unsafe {
        let left_out = left_out(frame)?;
        (context::inside(context) != 0).then_some(&left_out.subtree)
    }
}
