//! Critical sections, locks and `ordered`: the time for which a thread waits for them counts as
//! blocked.

use core::ffi::{c_int, c_uint};

use super::thread_state;

/// The shortest wait that counts, in ticks: a microsecond or less. After a shorter wait, the lock
/// was free or nearly so.
const MIN_BLOCKED_TICKS: u64 = 2000;

/// `ompt_callback_mutex_acquire_t`.
pub(super) extern "C" fn acquire(
    _kind: c_int,
    _hint: c_uint,
    _implementation: c_uint,
    lock: u64,
    return_address: usize,
) {
    if let Some(thread) = thread_state::current() {
        thread.write_pending_begin();
        thread.lock_wait = thread.h.now();
        thread.lock_site = return_address;
        #[cfg(target_arch = "x86_64")]
        crate::waits::wait_for_lock_begins(lock as usize);
    }
}

/// `ompt_callback_mutex_t`, for `acquired`.
pub(super) extern "C" fn acquired(_kind: c_int, lock: u64, _return_address: usize) {
    let Some(thread) = thread_state::current() else {
        return;
    };
    let since = core::mem::take(&mut thread.lock_wait);
    #[cfg(target_arch = "x86_64")]
    if since != 0 {
        crate::waits::wait_for_lock_ends(lock as usize);
    }
    if since != 0 && thread.h.now().saturating_sub(since) >= MIN_BLOCKED_TICKS {
        thread.h.blocked(since);
        #[cfg(target_arch = "x86_64")]
        crate::waits::waited_for_lock(lock as usize, since, thread.lock_site);
    }
}

/// `ompt_callback_mutex_t`, for `released`.
pub(super) extern "C" fn released(_kind: c_int, lock: u64, return_address: usize) {
    #[cfg(target_arch = "x86_64")]
    crate::waits::released_lock(lock as usize, return_address);
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (lock, return_address);
}
