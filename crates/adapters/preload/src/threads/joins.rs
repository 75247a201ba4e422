//! The task for which each thread was started, until the thread is joined.

use std::collections::BTreeMap;
use std::sync::Mutex;

/// Tasks by `pthread_t`. A thread that is never joined leaves its entry until the C library assigns
/// its number to another thread.
static TASKS: Mutex<BTreeMap<usize, u64>> = Mutex::new(BTreeMap::new());

/// The thread that was just started is `task`.
///
/// # Safety
/// `thread` points to the number that `pthread_create` wrote.
pub(super) unsafe fn remember(thread: *const usize, task: u64) {
    // SAFETY: the caller guarantees the number.
    let thread = unsafe { *thread };
    if let Ok(mut tasks) = TASKS.lock() {
        tasks.insert(thread, task);
    }
}

/// The thread that was just started is not a task. Another thread with the same number may have
/// been one.
///
/// # Safety
/// The same as for [`remember`].
pub(super) unsafe fn forget(thread: *const usize) {
    // SAFETY: the caller guarantees the number.
    let thread = unsafe { *thread };
    take(thread);
}

/// The task of a thread that is about to be joined.
pub(super) fn take(thread: usize) -> Option<u64> {
    TASKS.lock().ok()?.remove(&thread)
}
