//! The tasks on each thread: a chain of frames, one for each implicit or explicit task, innermost
//! first. They are in the stack frames of the functions that libgomp calls. libgomp's tasks never
//! change threads.

use core::cell::{Cell, UnsafeCell};
use core::ptr;

use workspan_recorder::adapter::LiveHandle;

use super::header::{FINAL, IN_TEAM};
use crate::runtimes::Instance;
use crate::skipped_subtree::Subtree;

/// A task that runs, or that is interrupted by the task above it.
pub(super) struct TaskFrame {
    pub(super) below: *mut TaskFrame,
    /// The thread's handle when the frame was made; `None` in the frame outside of all tasks.
    pub(super) h: Option<LiveHandle>,
    /// The outlined function.
    pub(super) function: usize,
    /// The place in the team; null in explicit tasks, which share no work.
    pub(super) implicit: *mut ImplicitTask,
    /// Whether tasks that it creates run at once.
    pub(super) is_final: bool,
    /// Whether there is a team, so that tasks that it creates may run on other threads.
    pub(super) in_team: bool,
    /// Whether `GOMP_parallel_start` or a related function opened its region, which
    /// `GOMP_parallel_end` will close.
    pub(super) is_open: bool,
    /// The skipped subtree that the task is in; null if the task is recorded.
    pub(super) skip: *const Subtree,
    /// The site of the sampled task around it; 0 if there is none.
    pub(super) whole: u32,
    /// The number of tasks between the implicit task and this one.
    pub(super) level: u32,
    /// The runtime that runs it; null stands for the first.
    pub(super) runtime: *const Instance,
}

impl TaskFrame {
    /// A frame for a task of the thread's own, on top of `below`.
    #[inline]
    pub(super) const fn new(
        below: *mut TaskFrame,
        h: Option<LiveHandle>,
        function: usize,
    ) -> TaskFrame {
        TaskFrame {
            below,
            h,
            function,
            implicit: ptr::null_mut(),
            is_final: false,
            in_team: false,
            is_open: false,
            skip: ptr::null(),
            whole: 0,
            level: 0,
            runtime: ptr::null(),
        }
    }

    /// A frame for an explicit task with these [`super::header::Header::flags`]. Its level is that
    /// of a child of the task below, until the caller sets another.
    ///
    /// # Safety
    /// `below` is the calling thread's current frame.
    #[inline]
    pub(super) unsafe fn explicit(
        below: *mut TaskFrame,
        h: LiveHandle,
        function: usize,
        flags: u32,
    ) -> TaskFrame {
        // SAFETY: the caller passes the current frame, which is alive.
        let (whole, level) = unsafe { ((*below).whole, (*below).level + 1) };
        // SAFETY: the same frame.
        let runtime = unsafe { (*below).runtime };
        TaskFrame {
            is_final: flags & FINAL != 0,
            in_team: flags & IN_TEAM != 0,
            whole,
            level,
            runtime,
            ..TaskFrame::new(below, Some(h), function)
        }
    }
}

/// An implicit task's place in its team, and in the loop or the sections that the team shares.
pub(super) struct ImplicitTask {
    /// 0 outside of all regions.
    pub(super) team: u64,
    pub(super) phase: u64,
    pub(super) index: u64,
    /// The group scope of the current loop's chunks; 0 outside of loops.
    pub(super) scope: u64,
    pub(super) chunk_site: u32,
    /// Whether a chunk's task has begun.
    pub(super) in_chunk: bool,
    /// The time at which the thread came to what may be a barrier; 0 if it is not at one.
    pub(super) arrived: u64,
    /// Whether the region was cancelled and the task of its last phase has ended.
    pub(super) is_over: bool,
}

impl ImplicitTask {
    pub(super) const fn new(team: u64, index: u64) -> Self {
        ImplicitTask {
            team,
            phase: 0,
            index,
            scope: 0,
            chunk_site: 0,
            in_chunk: false,
            arrived: 0,
            is_over: false,
        }
    }
}

// The current frame; null outside of all regions and tasks.
workspan_recorder::tls_slot!(Current: TaskFrame, "workspan_gomp_frame");

struct Local {
    /// The last deferred task that ended on this thread.
    last_ended: Cell<u64>,
    outside: UnsafeCell<TaskFrame>,
    outside_implicit: UnsafeCell<ImplicitTask>,
}

thread_local! {
    /// Has no destructor, so it can be used until the very end of the thread.
    static LOCAL: Local = const {
        Local {
            last_ended: Cell::new(0),
            outside: UnsafeCell::new(TaskFrame::new(ptr::null_mut(), None, 0)),
            outside_implicit: UnsafeCell::new(ImplicitTask::new(0, 0)),
        }
    };
}

/// The calling thread's current frame; never null.
#[inline]
pub(super) fn current() -> *mut TaskFrame {
    let current = Current::get();
    if current.is_null() {
        return outside();
    }
    current
}

#[cold]
fn outside() -> *mut TaskFrame {
    LOCAL.with(|local| {
        // SAFETY: the cell is this thread's, and no reference to its contents exists.
        unsafe { (*local.outside.get()).implicit = local.outside_implicit.get() };
        local.outside.get()
    })
}

/// The calling thread's handle, if it is recorded, and its current frame. A handle outlives all
/// frames of its thread, even if recording ends in between.
#[inline]
pub(super) fn here() -> (Option<LiveHandle>, *mut TaskFrame) {
    let frame = current();
    // SAFETY: the current frame is alive and belongs to this thread, and so does the handle:
    // libgomp's tasks never change threads.
    unsafe { ((*frame).h.or_else(|| LiveHandle::current()), frame) }
}

/// Makes a frame the current one.
#[inline]
pub(super) fn set_current(frame: *mut TaskFrame) {
    Current::set(frame);
}

/// Leaves a frame for the one below; `task` is the deferred task that ended with it.
#[inline]
pub(super) fn leave(below: *mut TaskFrame, task: u64) {
    Current::set(below);
    LOCAL.with(|local| local.last_ended.set(task));
}

/// The last deferred task that ended on this thread.
pub(super) fn last_ended() -> u64 {
    LOCAL.with(|local| local.last_ended.get())
}

/// Whether the thread is inside a region or an explicit task.
pub(super) fn is_inside() -> bool {
    !Current::get().is_null()
}

/// The runtime whose region or explicit task the thread is in; `None` outside of all.
pub(super) fn runtime() -> Option<*const Instance> {
    // SAFETY: the current frame is this thread's, and alive.
    unsafe { Current::get().as_ref() }.map(|frame| frame.runtime)
}

/// The implicit task that is current; null in an explicit task.
pub(super) fn current_implicit_task() -> *mut ImplicitTask {
    // SAFETY: the current frame is this thread's, and alive.
    unsafe { (*current()).implicit }
}
