//! Waits for locks, critical sections and the ordered part of loops. The strand goes on, and the
//! time is recorded as blocked if the function did not return at once. Functions that release a
//! lock note the release if a thread waits for the lock.

use workspan_recorder::adapter::LiveHandle;

use super::entry_points::{Call, entries};
use super::next_symbol::{ANY_RUNTIME, ASK_ALWAYS, Entry};
use super::task_frame;

/// The shortest wait that counts, in ticks. It is about half a microsecond, some twenty times the
/// cost of a free lock.
const MIN_BLOCKED_TICKS: u64 = 1500;

/// Forms of entries.
const FEW_ARGUMENTS: u8 = 0;
/// The function takes any number of arguments.
const MANY_ARGUMENTS: u8 = 1;
/// The function's only argument identifies the lock.
const NAMED_LOCK: u8 = 2;
/// Values from here on: all calls of the function share a lock, which is that of the entry point
/// with this index in [`locks`].
const SHARED_LOCK: u8 = 16;

entries! { locks, acquire, by_return ANY_RUNTIME;
    GOMP_critical_start = FEW_ARGUMENTS,
    GOMP_critical_name_start = NAMED_LOCK,
    GOMP_atomic_start = FEW_ARGUMENTS,
    GOMP_ordered_start = FEW_ARGUMENTS,
    GOMP_doacross_wait = MANY_ARGUMENTS,
    GOMP_doacross_ull_wait = MANY_ARGUMENTS,
    omp_set_lock = NAMED_LOCK,
    omp_set_nest_lock = NAMED_LOCK,
    omp_set_lock_ = NAMED_LOCK,
    omp_set_nest_lock_ = NAMED_LOCK,
}

entries! { unlocks, release, by_return ANY_RUNTIME;
    GOMP_critical_end = SHARED_LOCK,
    GOMP_critical_name_end = NAMED_LOCK,
    GOMP_atomic_end = SHARED_LOCK + 2,
    GOMP_ordered_end = SHARED_LOCK + 3,
    omp_unset_lock = NAMED_LOCK,
    omp_unset_nest_lock = NAMED_LOCK,
    omp_unset_lock_ = NAMED_LOCK,
    omp_unset_nest_lock_ = NAMED_LOCK,
}

// These are only forwarded. A runtime that creates a lock may be new to us, and the waits come
// later.
entries! { inits, pass_on, by_return ASK_ALWAYS | ANY_RUNTIME;
    omp_init_lock = FEW_ARGUMENTS,
    omp_init_nest_lock = FEW_ARGUMENTS,
    omp_init_lock_ = FEW_ARGUMENTS,
    omp_init_nest_lock_ = FEW_ARGUMENTS,
}

unsafe extern "C-unwind" fn pass_on(call: &mut Call, entry: &Entry) -> usize {
    // SAFETY: the arguments are the entry point's.
    unsafe { call.forward(entry.next_symbol()) }
}

unsafe extern "C-unwind" fn acquire(call: &mut Call, entry: &Entry) -> usize {
    let go_on = || {
        let next = entry.next_symbol();
        // SAFETY: the arguments are the entry point's.
        unsafe {
            match entry.form {
                MANY_ARGUMENTS => call.forward_long(next),
                _ => call.forward(next),
            }
        }
    };
    let (object, returns_to) = (lock_of(call, entry), call.return_address());
    // SAFETY: the function that is called next reads the lock that its argument identifies.
    if entry.form == NAMED_LOCK && unsafe { is_free(object) } {
        return go_on();
    }
    // SAFETY: only this call uses the handle.
    let h = unsafe { LiveHandle::current() };
    // A thread without a task has no strand that could be blocked.
    match h.filter(|h| task_frame::is_inside() || h.has_root()) {
        Some(h) => {
            let since = h.now();
            #[cfg(target_arch = "x86_64")]
            crate::waits::wait_for_lock_begins(object);
            let result = wait(h, go_on);
            #[cfg(target_arch = "x86_64")]
            {
                crate::waits::wait_for_lock_ends(object);
                crate::waits::waited_for_lock(object, since, returns_to);
            }
            result
        }
        None => go_on(),
    }
}

unsafe extern "C-unwind" fn release(call: &mut Call, entry: &Entry) -> usize {
    let shared = entry.form.checked_sub(SHARED_LOCK);
    let shared = shared.and_then(|at| locks::TABLE.get(usize::from(at)));
    let object = lock_of(call, shared.unwrap_or(entry));
    #[cfg(target_arch = "x86_64")]
    crate::waits::released_lock(object, call.return_address());
    #[cfg(not(target_arch = "x86_64"))]
    let _ = object;
    // SAFETY: the arguments are the entry point's.
    unsafe { call.forward(entry.next_symbol()) }
}

/// Whether the lock is free, according to its first word, which is 0 in libgomp. Another runtime's
/// free lock may look held, which only costs time. If a lock is taken after this test, that wait is
/// not recorded.
///
/// # Safety
/// `lock` is a lock's address.
unsafe fn is_free(lock: usize) -> bool {
    let word = lock as *const core::sync::atomic::AtomicU32;
    // SAFETY: the caller guarantees a lock, which is at least an aligned word.
    !word.is_null() && unsafe { (*word).load(core::sync::atomic::Ordering::Relaxed) } == 0
}

/// The identity of the lock: the address in the call's argument, or that of the function's entry if
/// all its calls share a lock.
fn lock_of(call: &Call, entry: &Entry) -> usize {
    match entry.form {
        NAMED_LOCK => call.argument(0),
        _ => core::ptr::from_ref(entry) as usize,
    }
}

/// Calls a function that may wait, and records how long it waited.
pub(super) fn wait(h: LiveHandle, function: impl FnOnce() -> usize) -> usize {
    let since = h.now();
    let result = function();
    if h.now().saturating_sub(since) > MIN_BLOCKED_TICKS {
        h.blocked(since);
    }
    result
}
