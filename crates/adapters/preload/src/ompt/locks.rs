//! Critical sections, locks and `ordered`: the time they are waited for is blocked.

use core::ffi::{c_int, c_uint};

use workspan_recorder::adapter;
use workspan_recorder::front::Handle;

use super::thread_state;

/// A wait shorter than this (in ticks, a microsecond or less) was none: the lock was free, or nearly.
const IMMEDIATE: u64 = 2000;

/// `ompt_callback_mutex_acquire_t`.
pub(super) extern "C" fn acquire(
    _kind: c_int,
    _hint: c_uint,
    _implementation: c_uint,
    _lock: u64,
    _return_address: usize,
) {
    if let Some(thread) = thread_state::current() {
        thread.write_pending_begin();
        // SAFETY: the handle is this thread's.
        thread.lock_wait = unsafe { Handle::now(thread.h) };
    }
}

/// `ompt_callback_mutex_t`, for acquired.
pub(super) extern "C" fn acquired(_kind: c_int, _lock: u64, _return_address: usize) {
    let Some(thread) = thread_state::current() else {
        return;
    };
    let since = core::mem::take(&mut thread.lock_wait);
    // SAFETY: the handle is this thread's.
    unsafe {
        if since != 0 && Handle::now(thread.h).saturating_sub(since) >= IMMEDIATE {
            adapter::blocked(thread.h, since);
        }
    }
}
