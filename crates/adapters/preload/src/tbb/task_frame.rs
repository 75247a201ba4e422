//! The tasks on a thread: a chain of frames on the machine stack, innermost first. oneTBB moves
//! whole stacks between threads, and the chain moves with them.

use std::cell::UnsafeCell;
use std::mem::replace;
use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use workspan_recorder::adapter::LiveHandle;

use super::budget::SkippedTbbTask;
use super::call_site::{self, CallSiteCache};
use super::task::Scope;
use super::{native_stack, several_workers};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FrameKind {
    /// The thread's own frame below all: its root, or nothing on a worker.
    Bottom,
    /// A task runs or waits here.
    Task,
    /// The task below is away: `task_arena::execute` took it to a thread with a place in the arena.
    Away,
}

pub(super) struct TaskFrame {
    pub(super) kind: FrameKind,
    /// The frame below; null above a thread's bottom, because the stack may outlive the thread.
    pub(super) parent: *mut TaskFrame,
    /// Address of the task's context; 0 if there is none.
    pub(super) context: usize,
    /// The scope it was created into; 0 if there is none.
    pub(super) scope: u64,
    /// If the task belongs to a part of an algorithm with a wait of its own: the scope of the whole
    /// algorithm. Otherwise 0.
    pub(super) outer: u64,
    /// The scope it opened last; 0 if there is none.
    pub(super) opened: u64,
    /// The site of its creation.
    pub(super) site: u32,
    /// The number of tasks between the root and this one.
    pub(super) level: u32,
    /// The value of [`super::task_class::TaskClass::inside`].
    pub(super) inside: bool,
    /// The skipped subtree that the task is in; null if the task is recorded.
    pub(super) skip: *const SkippedTbbTask,
    /// The site of the sampled task around it; 0 if there is none.
    pub(super) whole: u32,
    /// The wait context that the task waits for, in a call on this stack; null if it does not wait.
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

    /// The scope of tasks that the frame's task creates in its own context. Tasks that outlive the
    /// wait of a part go into the scope of the whole.
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
    /// Its cache of call sites; null before the first use.
    pub(super) call_sites: *mut CallSiteCache,
    /// The innermost frame; null stands for the bottom.
    top: *mut TaskFrame,
    bottom: TaskFrame,
    /// Whether the bottom stands for another thread's root, which came along with a delegate.
    pub(super) guest: bool,
    /// Whether the thread was recorded as a worker.
    pub(super) worker: bool,
    /// The address of the record after the last end, if that end completed the wait below.
    over: *mut u8,
    /// The stack on which it was started; empty until it is looked up.
    native: Range<usize>,
}

/// The front of oneTBB's `wait_context`.
#[repr(C)]
pub(super) struct WaitContext {
    version: u64,
    /// The remaining count of the wait.
    count: AtomicU64,
}

/// Stands for a wait that is not oneTBB's. It never completes.
pub(super) static OTHER_WAIT: WaitContext = WaitContext {
    version: 0,
    count: AtomicU64::new(1),
};

thread_local! {
    /// Has no destructor, so it can be used until the very end of the thread.
    static THREAD: UnsafeCell<ThreadState> = const {
        UnsafeCell::new(ThreadState {
            call_sites: ptr::null_mut(),
            top: ptr::null_mut(),
            bottom: TaskFrame::BOTTOM,
            guest: false,
            worker: false,
            over: ptr::null_mut(),
            native: 0..0,
        })
    };
}

// The thread's state.
workspan_recorder::tls_slot!(Here: ThreadState, "workspan_tbb_thread");

/// The calling thread's state. Must be looked up again after every call that may return on another
/// thread.
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
    // SAFETY: null, or this thread's state.
    if let Some(thread) = unsafe { thread.as_mut() } {
        call_site::thread_ends(replace(&mut thread.call_sites, ptr::null_mut()));
    }
}

/// The innermost frame.
///
/// # Safety
/// `thread` is the calling thread's state.
#[inline]
pub(super) unsafe fn top(thread: *mut ThreadState) -> *mut TaskFrame {
    // SAFETY: the state is this thread's.
    unsafe {
        let link = link(thread);
        if link.is_null() {
            &raw mut (*thread).bottom
        } else {
            link
        }
    }
}

/// The innermost frame, as a [`TaskFrame::parent`].
///
/// # Safety
/// `thread` is the calling thread's state.
#[inline]
pub(super) unsafe fn link(thread: *mut ThreadState) -> *mut TaskFrame {
    // SAFETY: the state is this thread's.
    unsafe {
        if stacks_may_move() {
            settle(thread);
        }
        (*thread).top
    }
}

/// Whether a task was ever suspended. From then on threads change stacks.
static STACKS_MOVE: AtomicBool = AtomicBool::new(false);

/// A task is about to be suspended.
pub(super) fn stacks_move() {
    STACKS_MOVE.store(true, Ordering::Relaxed);
}

/// Whether a task was ever suspended.
#[inline]
pub(super) fn stacks_may_move() -> bool {
    STACKS_MOVE.load(Ordering::Relaxed)
}

/// Notices that a worker is back on its own stack. Such a worker leaves a foreign stack, with a
/// waiting task on it, without a call that could be seen. The innermost frame is then on that other
/// stack, and may be gone.
///
/// # Safety
/// `thread` is the calling thread's state.
#[cold]
unsafe fn settle(thread: *mut ThreadState) {
    // SAFETY: the state is this thread's; the frame is only compared.
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
/// `thread` is the calling thread's state; `parent` lives until another frame replaces it.
#[inline]
pub(super) unsafe fn restore(thread: *mut ThreadState, parent: *mut TaskFrame) {
    // SAFETY: the state is this thread's.
    unsafe { (*thread).top = parent };
}

/// Makes a frame the innermost. Any thread's bottom means the calling thread's, because the stack
/// may have moved.
///
/// # Safety
/// `thread` is the calling thread's state; `frame` lives until another frame replaces it.
#[inline]
pub(super) unsafe fn set_top(thread: *mut ThreadState, frame: *mut TaskFrame) {
    // SAFETY: the state is this thread's, and the frame is alive.
    unsafe {
        (*thread).top = if (*frame).kind == FrameKind::Bottom {
            ptr::null_mut()
        } else {
            frame
        };
    }
}

/// The state of a thread's bottom before another thread's root came to it.
pub(super) struct SuspendedBottom {
    at: *mut ThreadState,
    before: bool,
    waits: *const WaitContext,
}

impl SuspendedBottom {
    /// The task of `frame` goes on here. If it is a root, the bottom stands for it and waits for
    /// nothing.
    ///
    /// # Safety
    /// `thread` is the calling thread's state, and `frame` is alive.
    pub(super) unsafe fn enter(
        thread: *mut ThreadState,
        frame: *mut TaskFrame,
    ) -> Option<SuspendedBottom> {
        // SAFETY: the state is this thread's, and the frame is alive.
        unsafe {
            ((*frame).kind == FrameKind::Bottom).then(|| SuspendedBottom {
                at: thread,
                before: replace(&mut (*thread).guest, true),
                waits: replace(&mut (*thread).bottom.waits, ptr::null()),
            })
        }
    }

    /// The guest goes away. If it was suspended and came back on another thread, nothing is
    /// restored there.
    ///
    /// # Safety
    /// `thread` is the calling thread's state.
    pub(super) unsafe fn leave(self, thread: *mut ThreadState) {
        if self.at != thread {
            return;
        }
        // SAFETY: the state is this thread's.
        unsafe {
            (*thread).guest = self.before;
            (*thread).bottom.waits = self.waits;
        }
    }
}

/// Whether the thread's records have a current task, which is that of the frame.
///
/// # Safety
/// `frame` is the thread's innermost.
#[inline]
pub(super) unsafe fn has_task(h: LiveHandle, frame: *mut TaskFrame) -> bool {
    // SAFETY: the innermost frame is alive.
    unsafe {
        match (*frame).kind {
            FrameKind::Task => true,
            // While a root waits, a call from its thread is not the root's.
            FrameKind::Bottom => {
                (*frame).waits.is_null() && ((*current_thread()).guest || super::has_root(h))
            }
            FrameKind::Away => false,
        }
    }
}

/// A task has ended at the time of the thread's last record, and its frame is gone. If no other
/// thread runs tasks and the wait below has nothing left to wait for, the waiting task goes on at
/// that time. Only the return from libtbb is in between.
///
/// # Safety
/// `thread` is the calling thread's state.
#[inline]
pub(super) unsafe fn ended(h: LiveHandle, thread: *mut ThreadState) {
    if several_workers() {
        return;
    }
    // SAFETY: a wait's context lives until the wait is over, and then leaves its frame.
    unsafe {
        if let Some(waits) = (*top(thread)).waits.as_ref()
            && waits.count.load(Ordering::Relaxed) == 0
        {
            (*thread).over = h.cursor();
        }
    }
}

/// The wait of the innermost frame is over. Returns true if the thread's last record, an end,
/// completed it.
///
/// # Safety
/// The same as for [`ended`].
#[inline]
pub(super) unsafe fn resume_root(h: LiveHandle, thread: *mut ThreadState) -> bool {
    // SAFETY: the state is this thread's.
    unsafe {
        let over = replace(&mut (*thread).over, ptr::null_mut());
        over == h.cursor() && !several_workers()
    }
}
