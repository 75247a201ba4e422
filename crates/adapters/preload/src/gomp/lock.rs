//! Waits for locks, critical sections and the ordered part of loops: the strand goes on, and the time is told as blocked where the
//! function did not return at once. The functions that release a lock need no entry points.

use workspan_recorder::adapter;
use workspan_recorder::front::{HAS_ROOT, Handle};

use super::entry_points::{Call, entries};
use super::next_symbol::{ANY_RUNTIME, ASK_ALWAYS, Entry};
use super::task_frame;

/// A wait shorter than this is none: about half a microsecond, some twenty times what a free lock takes.
const AT_ONCE_TICKS: u64 = 1500;

/// Entry forms.
const FEW: u8 = 0;
/// Any number of arguments.
const MANY: u8 = 1;

entries! { locks, acquire, by_return ANY_RUNTIME;
    GOMP_critical_start = FEW,
    GOMP_critical_name_start = FEW,
    GOMP_atomic_start = FEW,
    GOMP_ordered_start = FEW,
    GOMP_doacross_wait = MANY,
    GOMP_doacross_ull_wait = MANY,
    omp_set_lock = FEW,
    omp_set_nest_lock = FEW,
    omp_set_lock_ = FEW,
    omp_set_nest_lock_ = FEW,
}

// Not recorded: a lock is made by the runtime that waits for it, which may be the first that is heard of that one.
entries! { inits, pass_on, by_return ASK_ALWAYS | ANY_RUNTIME;
    omp_init_lock = FEW,
    omp_init_nest_lock = FEW,
    omp_init_lock_ = FEW,
    omp_init_nest_lock_ = FEW,
}

unsafe extern "C-unwind" fn pass_on(call: &mut Call, entry: &Entry) -> usize {
    // SAFETY: the arguments are the entry point's.
    unsafe { call.forward(entry.next_symbol()) }
}

unsafe extern "C-unwind" fn acquire(call: &mut Call, entry: &Entry) -> usize {
    let h = adapter::handle();
    let go_on = || {
        let next = entry.next_symbol();
        // SAFETY: the arguments are the entry point's.
        unsafe {
            match entry.form {
                MANY => call.forward_long(next),
                _ => call.forward(next),
            }
        }
    };
    // SAFETY: the handle is this thread's. A thread without a task has no strand that could be blocked.
    unsafe {
        if h.is_null() || !(task_frame::is_inside() || (*h).flags & HAS_ROOT != 0) {
            return go_on();
        }
        wait(h, go_on)
    }
}

/// Calls a function that may wait, and tells how long it did.
///
/// # Safety
/// `h` is the calling thread's live handle, and a task is current.
pub(super) unsafe fn wait(h: *mut Handle, function: impl FnOnce() -> usize) -> usize {
    // SAFETY: the caller's.
    unsafe {
        let since = Handle::now(h);
        let result = function();
        if Handle::now(h).saturating_sub(since) > AT_ONCE_TICKS {
            adapter::blocked(h, since);
        }
        result
    }
}
