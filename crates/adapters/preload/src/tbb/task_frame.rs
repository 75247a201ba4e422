//! What runs on a thread, as a chain of frames that lie on the machine stack, innermost first: oneTBB moves whole stacks
//! between threads, and the chain moves along.

use std::cell::UnsafeCell;
use std::mem::replace;
use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use workspan_recorder::front::Handle;

use super::budget::LeftOut;
use super::call_site::{self, CallSiteCache};
use super::task::Scope;
use super::{native_stack, several_workers};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FrameKind {
    /// Of the thread, below all: its root, or nothing on a worker.
    Bottom,
    /// A task runs or waits here.
    Task,
    /// The task below is away: `task_arena::execute` takes it to wherever there is room.
    Away,
}

pub(super) struct TaskFrame {
    pub(super) kind: FrameKind,
    /// What ran when this began; null for a thread's bottom, as the stack may outlive the thread it began on.
    pub(super) parent: *mut TaskFrame,
    /// Address of the task's context; 0 for none.
    pub(super) context: usize,
    /// The scope it was created into, or 0.
    pub(super) scope: u64,
    /// That of the whole algorithm, where the task belongs to a part of one with a wait of its own; else 0.
    pub(super) outer: u64,
    /// The scope it opened last, or 0.
    pub(super) opened: u64,
    /// Where it was created.
    pub(super) site: u32,
    /// Creates between the root and it.
    pub(super) level: u32,
    /// [`super::task_class::TaskClass::inside`].
    pub(super) inside: bool,
    /// What it does is left out. Null where it is recorded.
    pub(super) skip: *const LeftOut,
    /// The site of the task around that is recorded with everything inside to stand for others; 0 for none.
    pub(super) whole: u32,
    /// What its task waits for in a call on this stack; null for nothing.
    pub(super) waits: *const WaitContext,
}

impl TaskFrame {
    pub(super) const BOTTOM: TaskFrame = TaskFrame {
        kind: FrameKind::Bottom,
        parent: ptr::null_mut(),
        context: 0,
        scope: 0,
        outer: 0,
        opened: 0,
        site: 0,
        level: 0,
        inside: false,
        skip: ptr::null(),
        whole: 0,
        waits: ptr::null(),
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
pub(super) struct ThreadState {
    /// What it knows of calls; null until it looks for one's site.
    pub(super) seen: *mut CallSiteCache,
    /// Innermost frame; null before first use stands for the bottom.
    top: *mut TaskFrame,
    bottom: TaskFrame,
    /// The bottom stands for another thread's root, which came along with a delegate.
    pub(super) guest: bool,
    /// It was told to be a worker.
    pub(super) worker: bool,
    /// Where the record after the end that let the wait below go on would lie.
    over: *mut u8,
    /// The stack it was born with, from its lowest address on; empty while nobody asked.
    native: Range<usize>,
}

/// The front of oneTBB's `wait_context`.
#[repr(C)]
pub(super) struct WaitContext {
    version: u64,
    /// What the wait is still for.
    count: AtomicU64,
}

/// For what is no wait of oneTBB's: never seen to be over.
pub(super) static OTHER_WAIT: WaitContext = WaitContext {
    version: 0,
    count: AtomicU64::new(1),
};

thread_local! {
    /// No destructor, so that it can be used to the very end of a thread.
    static THREAD: UnsafeCell<ThreadState> = const {
        UnsafeCell::new(ThreadState {
            seen: ptr::null_mut(),
            top: ptr::null_mut(),
            bottom: TaskFrame::BOTTOM,
            guest: false,
            worker: false,
            over: ptr::null_mut(),
            native: 0..0,
        })
    };
}

// Where a thread's state is found.
workspan_recorder::thread_word!(Here: ThreadState, "workspan_tbb_thread");

/// The calling thread's state. Asked anew after every call that may return on another thread.
#[inline(always)]
pub(super) fn current_thread() -> *mut ThreadState {
    let thread = Here::get();
    if thread.is_null() { first() } else { thread }
}

#[cold]
#[inline(never)]
fn first() -> *mut ThreadState {
    let thread = THREAD.with(UnsafeCell::get);
    Here::set(thread);
    thread
}

/// The calling thread ends.
pub(crate) fn thread_ends() {
    let thread = Here::get();
    // SAFETY: the state is this thread's, or null.
    if let Some(thread) = unsafe { thread.as_mut() } {
        call_site::thread_ends(replace(&mut thread.seen, ptr::null_mut()));
    }
}

/// The innermost frame.
///
/// # Safety
/// `here` is the calling thread's.
#[inline]
pub(super) unsafe fn top(thread: *mut ThreadState) -> *mut TaskFrame {
    // SAFETY: the caller's.
    unsafe {
        let link = link(thread);
        if link.is_null() {
            &raw mut (*thread).bottom
        } else {
            link
        }
    }
}

/// The innermost frame as a [`TaskFrame::parent`].
///
/// # Safety
/// `here` is the calling thread's.
#[inline]
pub(super) unsafe fn link(thread: *mut ThreadState) -> *mut TaskFrame {
    // SAFETY: the caller's.
    unsafe {
        if stacks_may_move() {
            settle(thread);
        }
        (*thread).top
    }
}

/// Whether some task was suspended: from then on threads change between stacks.
static STACKS_MOVE: AtomicBool = AtomicBool::new(false);

/// A task is about to be suspended.
pub(super) fn stacks_move() {
    STACKS_MOVE.store(true, Ordering::Relaxed);
}

/// Whether one was.
#[inline]
pub(super) fn stacks_may_move() -> bool {
    STACKS_MOVE.load(Ordering::Relaxed)
}

/// A worker whose own stack is called back leaves the stack it is on, a waiting task on it, and is at its bottom, without a
/// call that could be seen: then the innermost frame lies on another stack, and may be gone.
///
/// # Safety
/// `here` is the calling thread's.
#[cold]
unsafe fn settle(thread: *mut ThreadState) {
    // SAFETY: the caller's; the frame is not looked into.
    unsafe {
        let top = (*thread).top as usize;
        if top == 0 {
            return;
        }
        if (*thread).native.is_empty() {
            (*thread).native = native_stack::native();
        }
        let native = &(*thread).native;
        let local = 0u8;
        if native.contains(&(&raw const local as usize)) && !native.contains(&top) {
            (*thread).top = ptr::null_mut();
        }
    }
}

/// Makes a frame's parent the innermost.
///
/// # Safety
/// `here` is the calling thread's; `parent` lives until another is put in its place.
#[inline]
pub(super) unsafe fn restore(thread: *mut ThreadState, parent: *mut TaskFrame) {
    // SAFETY: the caller's.
    unsafe { (*thread).top = parent };
}

/// Makes a frame the innermost: a thread's bottom means that of the calling thread, as the stack may have moved.
///
/// # Safety
/// `here` is the calling thread's; `frame` lives until another is put in its place.
#[inline]
pub(super) unsafe fn set_top(thread: *mut ThreadState, frame: *mut TaskFrame) {
    // SAFETY: the caller's.
    unsafe {
        (*thread).top = if (*frame).kind == FrameKind::Bottom {
            ptr::null_mut()
        } else {
            frame
        };
    }
}

/// What a thread's bottom was before another's root came to it.
pub(super) struct Guest {
    at: *mut ThreadState,
    before: bool,
    waits: *const WaitContext,
}

impl Guest {
    /// The task of `frame` goes on here: where that is a root, it is what the bottom stands for, and it waits for nothing.
    ///
    /// # Safety
    /// `here` is the calling thread's, `frame` live.
    pub(super) unsafe fn enter(thread: *mut ThreadState, frame: *mut TaskFrame) -> Option<Guest> {
        // SAFETY: the caller's.
        unsafe {
            ((*frame).kind == FrameKind::Bottom).then(|| Guest {
                at: thread,
                before: replace(&mut (*thread).guest, true),
                waits: replace(&mut (*thread).bottom.waits, ptr::null()),
            })
        }
    }

    /// It goes away. One that was suspended and came back on another thread leaves nothing there.
    ///
    /// # Safety
    /// `here` is the calling thread's.
    pub(super) unsafe fn leave(self, thread: *mut ThreadState) {
        if self.at != thread {
            return;
        }
        // SAFETY: the caller's.
        unsafe {
            (*thread).guest = self.before;
            (*thread).bottom.waits = self.waits;
        }
    }
}

/// Whether the records of the calling thread have a current task, which is the frame's.
///
/// # Safety
/// `h` is the calling thread's live handle, `frame` its innermost.
#[inline]
pub(super) unsafe fn has_task(h: *mut Handle, frame: *mut TaskFrame) -> bool {
    // SAFETY: the caller's.
    unsafe {
        match (*frame).kind {
            FrameKind::Task => true,
            // A root that waits is not what calls from its thread.
            FrameKind::Bottom => {
                (*frame).waits.is_null() && ((*current_thread()).guest || super::has_root(h))
            }
            FrameKind::Away => false,
        }
    }
}

/// A task's end was told, at the handle's last time; its frame is gone. Where no other thread runs tasks and the wait below has nothing
/// left to wait for, its task goes on at that time: between the two there is nothing but the way out of libtbb.
///
/// # Safety
/// `h` and `here` are the calling thread's.
#[inline]
pub(super) unsafe fn ended(h: *mut Handle, thread: *mut ThreadState) {
    if several_workers() {
        return;
    }
    // SAFETY: a wait's context lives until the wait is over, which takes it out of its frame.
    unsafe {
        if let Some(waits) = (*top(thread)).waits.as_ref()
            && waits.count.load(Ordering::Relaxed) == 0
        {
            (*thread).over = (*h).cursor;
        }
    }
}

/// The wait of the innermost frame is over. Whether it was by the thread's last record, an end.
///
/// # Safety
/// As [`ended`].
#[inline]
pub(super) unsafe fn went_on(h: *mut Handle, thread: *mut ThreadState) -> bool {
    // SAFETY: the caller's.
    unsafe {
        let over = replace(&mut (*thread).over, ptr::null_mut());
        over == (*h).cursor && !several_workers()
    }
}
