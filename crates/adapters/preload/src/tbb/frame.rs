//! What runs on a thread, as a chain of frames that lie on the machine stack, innermost first: oneTBB moves whole stacks
//! between threads, and the chain moves along.

use std::cell::UnsafeCell;
use std::hint::black_box;
use std::ptr;

use workspan_recorder::adapter;
use workspan_recorder::front::Handle;

use super::task::Scope;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FrameKind {
    /// Of the thread, below all: its root, or nothing on a worker.
    Bottom,
    /// A task runs or waits here.
    Task,
    /// The task below is away: `task_arena::execute` takes it to wherever there is room.
    Away,
}

pub(super) struct Frame {
    pub(super) kind: FrameKind,
    /// What ran when this began; null for a thread's bottom, as the stack may outlive the thread it began on.
    pub(super) parent: *mut Frame,
    /// Address of the task's context; 0 for none.
    pub(super) context: usize,
    /// The scope it was created into, or 0.
    pub(super) scope: u64,
    /// That of the whole algorithm, where the task belongs to a part of one with a wait of its own; else 0.
    pub(super) outer: u64,
    /// The scope it opened last, or 0.
    pub(super) opened: u64,
    /// Its task left its thread with its stack: the stop to go on from. 0: it is where it was.
    pub(super) stop: u64,
    /// Where it was created.
    pub(super) site: u32,
    /// [`super::shape::Shape::inside`].
    pub(super) inside: bool,
}

impl Frame {
    pub(super) const BOTTOM: Frame = Frame {
        kind: FrameKind::Bottom,
        parent: ptr::null_mut(),
        context: 0,
        scope: 0,
        outer: 0,
        opened: 0,
        stop: 0,
        site: 0,
        inside: false,
    };

    /// What tasks that the frame's task creates in its own context go into; those that outlive the wait of a part go
    /// into the whole.
    pub(super) fn members(&self, outlives: bool) -> Scope {
        if outlives && self.outer != 0 {
            Scope {
                of: self.outer,
                outer: 0,
            }
        } else {
            Scope {
                of: self.scope,
                outer: self.outer,
            }
        }
    }

    /// Whether the frame's task belongs to this context.
    pub(super) fn is_in(&self, context: usize) -> bool {
        self.kind == FrameKind::Task && self.context == context
    }
}

/// A thread's state.
pub(super) struct Thread {
    /// Innermost frame; null before first use stands for the bottom.
    top: *mut Frame,
    bottom: Frame,
    /// It was told to be a worker.
    pub(super) worker: bool,
}

thread_local! {
    /// No destructor, so that it can be used to the very end of a thread.
    static THREAD: UnsafeCell<Thread> = const {
        UnsafeCell::new(Thread {
            top: ptr::null_mut(),
            bottom: Frame::BOTTOM,
            worker: false,
        })
    };
}

/// The calling thread's state. Asked anew after every call that may return on another thread: the barrier keeps the
/// compiler from taking one answer for the other.
#[inline(never)]
pub(super) fn here() -> *mut Thread {
    black_box(THREAD.with(UnsafeCell::get))
}

/// The innermost frame.
///
/// # Safety
/// `here` is the calling thread's.
#[inline]
pub(super) unsafe fn top(here: *mut Thread) -> *mut Frame {
    // SAFETY: the caller's.
    unsafe {
        if (*here).top.is_null() {
            &raw mut (*here).bottom
        } else {
            (*here).top
        }
    }
}

/// The innermost frame as a [`Frame::parent`].
///
/// # Safety
/// `here` is the calling thread's.
#[inline]
pub(super) unsafe fn link(here: *mut Thread) -> *mut Frame {
    // SAFETY: the caller's.
    unsafe { (*here).top }
}

/// Makes a frame's parent the innermost.
///
/// # Safety
/// `here` is the calling thread's; `parent` lives until another is put in its place.
#[inline]
pub(super) unsafe fn restore(here: *mut Thread, parent: *mut Frame) {
    // SAFETY: the caller's.
    unsafe { (*here).top = parent };
}

/// Makes a frame the innermost: a thread's bottom means that of the calling thread, as the stack may have moved.
///
/// # Safety
/// `here` is the calling thread's; `frame` lives until another is put in its place.
#[inline]
pub(super) unsafe fn set_top(here: *mut Thread, frame: *mut Frame) {
    // SAFETY: the caller's.
    unsafe {
        (*here).top = if (*frame).kind == FrameKind::Bottom {
            ptr::null_mut()
        } else {
            frame
        };
    }
}

/// Whether the records of the calling thread have a current task, which is the frame's.
///
/// # Safety
/// `h` is the calling thread's live handle, `frame` its innermost.
#[inline]
pub(super) unsafe fn has_task(h: *mut Handle, frame: *mut Frame) -> bool {
    // SAFETY: the caller's.
    unsafe {
        match (*frame).kind {
            FrameKind::Task => true,
            FrameKind::Bottom => super::has_root(h),
            FrameKind::Away => false,
        }
    }
}

/// The frame's task goes on here, after a wait if `waited`, and wherever its stack was meanwhile.
///
/// # Safety
/// `h` is the calling thread's live handle; the frame's task waited or left.
#[inline]
pub(super) unsafe fn go_on(h: *mut Handle, frame: *mut Frame, waited: bool) {
    // SAFETY: the caller's.
    unsafe {
        let stop = std::mem::take(&mut (*frame).stop);
        if stop != 0 {
            adapter::resume_left(h, stop);
        } else if waited {
            adapter::resume(h);
        }
    }
}
