//! Which task each thread was started for, until it is joined.

use std::collections::BTreeMap;
use std::sync::Mutex;

/// By `pthread_t`. A thread that nobody joins leaves its entry until the C library gives its number
/// to another one.
static TASKS: Mutex<BTreeMap<usize, u64>> = Mutex::new(BTreeMap::new());

/// The thread that was just started is `task`.
///
/// # Safety
/// `thread` points to the number that `pthread_create` wrote.
pub(super) unsafe fn remember(thread: *const usize, task: u64) {
    // SAFETY: the caller's.
    let thread = unsafe { *thread };
    if let Ok(mut tasks) = TASKS.lock() {
        tasks.insert(thread, task);
    }
}

/// The thread that was just started is no task. Another one that had its number may have been.
///
/// # Safety
/// As for [`remember`].
pub(super) unsafe fn forget(thread: *const usize) {
    // SAFETY: the caller's.
    let thread = unsafe { *thread };
    take(thread);
}

/// The task of a thread that is about to be joined.
pub(super) fn take(thread: usize) -> Option<u64> {
    TASKS.lock().ok()?.remove(&thread)
}
