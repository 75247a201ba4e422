//! What each thread is doing: the implicit or explicit task that the program's code runs in, as a chain of frames that lie
//! in the stack frames of the functions that libgomp calls. libgomp's tasks never move to another thread.

use core::cell::{Cell, UnsafeCell};
use core::ptr;

use workspan_recorder::adapter;
use workspan_recorder::front::Handle;

use super::header::{FINAL, IN_TEAM};
use crate::runtimes::Instance;
use crate::unrecorded::Subtree;

/// A task that runs, or is interrupted by one above it.
pub(super) struct TaskFrame {
    pub(super) below: *mut TaskFrame,
    /// The thread's handle when the frame was made; null in the frame outside of all.
    pub(super) h: *mut Handle,
    /// The outlined function.
    pub(super) function: usize,
    /// The place in the team; null in explicit tasks, which share no work.
    pub(super) implicit: *mut ImplicitTask,
    /// What it creates runs at once.
    pub(super) is_final: bool,
    /// There is a team, so that what it creates may run on other threads.
    pub(super) in_team: bool,
    /// The region that it runs was opened by `GOMP_parallel_start` and its kin, and is closed by `GOMP_parallel_end`.
    pub(super) is_open: bool,
    /// What runs is left out: the subtree that this task is in. Null where it is recorded.
    pub(super) skip: *const Subtree,
    /// The site of the task around that is recorded with everything inside to stand for others; 0 for none.
    pub(super) whole: u32,
    /// Creates below the implicit task.
    pub(super) level: u32,
    /// Whose task it is; null: the first runtime's.
    pub(super) runtime: *const Instance,
}

impl TaskFrame {
    /// That of a task of the thread's own, on top of `below`.
    #[inline]
    pub(super) const fn new(below: *mut TaskFrame, h: *mut Handle, function: usize) -> TaskFrame {
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

    /// That of an explicit task with these [`super::header::Header::flags`], for now as if the task below had created it.
    ///
    /// # Safety
    /// `below` is the calling thread's current frame.
    #[inline]
    pub(super) unsafe fn explicit(
        below: *mut TaskFrame,
        h: *mut Handle,
        function: usize,
        flags: u32,
    ) -> TaskFrame {
        // SAFETY: the caller's.
        let (whole, level) = unsafe { ((*below).whole, (*below).level + 1) };
        // SAFETY: as above.
        let runtime = unsafe { (*below).runtime };
        TaskFrame {
            is_final: flags & FINAL != 0,
            in_team: flags & IN_TEAM != 0,
            whole,
            level,
            runtime,
            ..TaskFrame::new(below, h, function)
        }
    }
}

/// An implicit task's place in its team, and in the loop or the sections that the team shares.
pub(super) struct ImplicitTask {
    /// 0 outside of all regions.
    pub(super) team: u64,
    pub(super) phase: u64,
    pub(super) index: u64,
    /// The group scope of the chunks of the loop it is in; 0 in none.
    pub(super) scope: u64,
    pub(super) chunk_site: u32,
    /// A chunk's task has begun.
    pub(super) in_chunk: bool,
    /// When it came to what may turn out to be a barrier; 0 when it is at none.
    pub(super) arrived: u64,
    /// The region was cancelled, and the last task has ended.
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

// The current frame; null: outside of all regions and tasks.
workspan_recorder::thread_word!(Current: TaskFrame, "workspan_gomp_frame");

struct Local {
    /// The last deferred task that ended here.
    last_ended: Cell<u64>,
    outside: UnsafeCell<TaskFrame>,
    outside_implicit: UnsafeCell<ImplicitTask>,
}

thread_local! {
    /// No destructor, so that it can be used to the very end of a thread.
    static LOCAL: Local = const {
        Local {
            last_ended: Cell::new(0),
            outside: UnsafeCell::new(TaskFrame::new(ptr::null_mut(), ptr::null_mut(), 0)),
            outside_implicit: UnsafeCell::new(ImplicitTask::new(0, 0)),
        }
    };
}

/// The calling thread's current frame, never null.
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
        // SAFETY: this thread's own, and nobody holds a reference.
        unsafe { (*local.outside.get()).implicit = local.outside_implicit.get() };
        local.outside.get()
    })
}

/// The calling thread's current frame and its handle; null when it is not recorded. A handle outlives all frames of its
/// thread, also when recording ends in between.
#[inline]
pub(super) fn here() -> (*mut Handle, *mut TaskFrame) {
    let frame = current();
    // SAFETY: the current frame is this thread's and lives.
    let h = unsafe { (*frame).h };
    if h.is_null() {
        (adapter::handle(), frame)
    } else {
        (h, frame)
    }
}

/// Makes a frame the current one.
#[inline]
pub(super) fn set_current(frame: *mut TaskFrame) {
    Current::set(frame);
}

/// The frame leaves; `task` is the deferred task that ended with it.
#[inline]
pub(super) fn leave(below: *mut TaskFrame, task: u64) {
    Current::set(below);
    LOCAL.with(|local| local.last_ended.set(task));
}

/// The last deferred task that ended on this thread.
pub(super) fn last_ended() -> u64 {
    LOCAL.with(|local| local.last_ended.get())
}

/// True inside of a region or an explicit task.
pub(super) fn is_inside() -> bool {
    !Current::get().is_null()
}

/// The runtime whose region or explicit task the thread is in; `None` outside of all.
pub(super) fn runtime() -> Option<*const Instance> {
    // SAFETY: the current frame is this thread's and lives.
    unsafe { Current::get().as_ref() }.map(|frame| frame.runtime)
}

/// The current task's share; null in an explicit task.
pub(super) fn current_implicit_task() -> *mut ImplicitTask {
    // SAFETY: the current frame is this thread's and lives.
    unsafe { (*current()).implicit }
}
