//! Waits for locks, critical sections and the ordered part of loops. The strand goes on, and the
//! time is recorded as blocked if the function did not return at once. Functions that release a
//! lock note who did, where a thread waits for it.

use workspan_recorder::adapter::LiveHandle;

use super::entry_points::{Call, entries};
use super::next_symbol::{ANY_RUNTIME, ASK_ALWAYS, Entry};
use super::task_frame;

/// A shorter wait counts as none. About half a microsecond, some twenty times what a free lock
/// takes.
const MIN_BLOCKED_TICKS: u64 = 1500;

/// Forms of entries.
const FEW: u8 = 0;
/// The function takes any number of arguments.
const MANY: u8 = 1;
/// Its one argument names the lock.
const NAMED: u8 = 2;
/// From here on: all calls share a lock, that of the entry point so far into [`locks`].
const SHARED: u8 = 16;

entries! { locks, acquire, by_return ANY_RUNTIME;
    GOMP_critical_start = FEW,
    GOMP_critical_name_start = NAMED,
    GOMP_atomic_start = FEW,
    GOMP_ordered_start = FEW,
    GOMP_doacross_wait = MANY,
    GOMP_doacross_ull_wait = MANY,
    omp_set_lock = NAMED,
    omp_set_nest_lock = NAMED,
    omp_set_lock_ = NAMED,
    omp_set_nest_lock_ = NAMED,
}

entries! { unlocks, release, by_return ANY_RUNTIME;
    GOMP_critical_end = SHARED,
    GOMP_critical_name_end = NAMED,
    GOMP_atomic_end = SHARED + 2,
    GOMP_ordered_end = SHARED + 3,
    omp_unset_lock = NAMED,
    omp_unset_nest_lock = NAMED,
    omp_unset_lock_ = NAMED,
    omp_unset_nest_lock_ = NAMED,
}

// These are only forwarded. A runtime that makes a lock may be new to us, and the waits come later.
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
    let (object, returns_to) = (lock_of(call, entry), call.return_address());
    // SAFETY: the function that is called next reads the lock that its argument names.
    if entry.form == NAMED && unsafe { is_free(object) } {
        return go_on();
    }
    // SAFETY: this call alone uses the handle.
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
    let shared = entry.form.checked_sub(SHARED);
    let shared = shared.and_then(|at| locks::TABLE.get(usize::from(at)));
    let object = lock_of(call, shared.unwrap_or(entry));
    #[cfg(target_arch = "x86_64")]
    crate::waits::released_lock(object, call.return_address());
    #[cfg(not(target_arch = "x86_64"))]
    let _ = object;
    // SAFETY: the arguments are the entry point's.
    unsafe { call.forward(entry.next_symbol()) }
}

/// Whether nobody has the lock, by its first word: libgomp's are 0 then. Another runtime's may be
/// taken for held, which costs time, nothing else; if one is taken in between, that wait is not
/// recorded.
///
/// # Safety
/// `lock` is a lock's address.
unsafe fn is_free(lock: usize) -> bool {
    let word = lock as *const core::sync::atomic::AtomicU32;
    // SAFETY: the caller's; a lock is at least a word, and aligned as one.
    !word.is_null() && unsafe { (*word).load(core::sync::atomic::Ordering::Relaxed) } == 0
}

/// What tells the locks apart: the address that the call names, or that of the function's entry
/// where all calls of it share a lock.
fn lock_of(call: &Call, entry: &Entry) -> usize {
    match entry.form {
        NAMED => call.argument(0),
        _ => core::ptr::from_ref(entry) as usize,
    }
}

/// Calls a function that may wait, and records how long it did.
pub(super) fn wait(h: LiveHandle, function: impl FnOnce() -> usize) -> usize {
    let since = h.now();
    let result = function();
    if h.now().saturating_sub(since) > MIN_BLOCKED_TICKS {
        h.blocked(since);
    }
    result
}
