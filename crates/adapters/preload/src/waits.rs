//! Waits of the program's threads for each other, for time and for files. Interposes the C
//! library's functions that wait or end a wait.
//!
//! `README.md` beside this file describes the protocol. In short: an entry point in assembly calls
//! [`hooks`] before and after the C library's function. Long waits go to the recorder's log with
//! the call stack, and with the thread that ended the wait ([`release`]). On processors other than
//! x86-64 nothing is interposed, and waits are known only from the kernel's context switches.

mod entry_points;
mod hooks;
mod open_waits;
mod release;
pub(crate) mod stack;

use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};

use crate::libc_symbol::{self, RTLD_NEXT};
use release::Release;
use workspan_recorder::adapter::KeepErrno;
use workspan_recorder::wait_log::{self, Wait};
use workspan_trace::entry::WaitKind;

/// What an interposed function does with its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// It waits for the object of its first argument.
    Acquire,
    /// It waits for a reader-writer lock as a reader, which other readers do not block.
    AcquireToRead,
    /// It releases the lock of its second argument, and waits for the object of its first.
    Condition,
    /// It waits for the other threads; the last of several calls for one object ends the waits of
    /// the others.
    Barrier,
    /// It waits for no object of the process.
    Outside,
    /// It ends waits for the object of its first argument.
    Release,
    /// It releases a reader-writer lock, as its writer or as a reader.
    ReleaseReadOrWrite,
    /// It is the `syscall` function. If the call is `futex`, the second and third argument say what
    /// it does.
    Syscall,
    /// It is only called, not interposed.
    Called,
}

/// A function of the C library that is interposed.
#[repr(C)]
struct Entry {
    /// The C library's function; 0 before it is looked up. The entry points read this word.
    next: AtomicUsize,
    name: &'static CStr,
    role: Role,
    kind: WaitKind,
}

/// The version of the current condition variables, since glibc 2.3.2. Without a version the lookup
/// may find the older ones.
const CONDITION_VERSION: &CStr = c"GLIBC_2.3.2";
/// The version of the older condition variables, on x86-64.
const FIRST_VERSION: &CStr = c"GLIBC_2.2.5";

unsafe extern "C" {
    fn dlvsym(scope: *mut c_void, name: *const c_char, version: *const c_char) -> *mut c_void;
}

impl Entry {
    const fn new(name: &'static CStr, role: Role, kind: WaitKind) -> Entry {
        Entry {
            next: AtomicUsize::new(0),
            name,
            role,
            kind,
        }
    }

    /// The C library's function.
    fn next(&self) -> usize {
        match self.next.load(Ordering::Acquire) {
            0 => self.find(),
            next => next,
        }
    }

    #[cold]
    fn find(&self) -> usize {
        let next = libc_symbol::look_up(self.name);
        // SAFETY: the names are C strings.
        let version = |version: &CStr| unsafe {
            dlvsym(RTLD_NEXT, self.name.as_ptr(), version.as_ptr()) as usize
        };
        let mut found = match self.kind {
            // Another library's function, for example a sanitizer's, has no versions.
            WaitKind::Condition if next == version(FIRST_VERSION) => version(CONDITION_VERSION),
            _ => next,
        };
        if found == 0 {
            found = missing as *const () as usize;
        }
        self.next.store(found, Ordering::Release);
        found
    }
}

/// Replaces a function that this C library does not have. Its callers only test whether it exists.
extern "C" fn missing() -> c_int {
    const ENOSYS: c_int = 38;
    ENOSYS
}

/// Logs a wait for a lock that an adapter saw: a runtime's own function, which returns to
/// `returns_to`, waited since `begin` (in ticks).
pub(crate) fn waited_for_lock(object: usize, begin: u64, returns_to: usize) {
    let end = wait_log::now();
    let tid = stack::tid();
    if tid != 0 && begin != 0 && wait_log::is_long(begin, end) {
        let _errno = KeepErrno::new();
        let release = release::last(object, begin, end).filter(|release| release.by != tid);
        wait_log::wait(&Wait {
            tid,
            kind: WaitKind::Mutex,
            begin,
            end,
            object,
            chain: wait_log::chain(&[returns_to]),
            by: release.map_or(0, |release| release.by),
            released_at: release.map_or(0, |release| release.chain),
            released: release.map_or(end, |release| release.at),
        });
    }
}

/// The calling thread is about to wait for a runtime's lock.
pub(crate) fn wait_for_lock_begins(object: usize) {
    release::begin(object);
}

/// The calling thread has the lock.
pub(crate) fn wait_for_lock_ends(object: usize) {
    release::end(object);
}

/// The calling thread releases a runtime's lock, in a call that returns to `returns_to`.
pub(crate) fn released_lock(object: usize, returns_to: usize) {
    if release::is_awaited(object) {
        note_release(object, wait_log::now(), || wait_log::chain(&[returns_to]));
    }
}

/// Notes that the calling thread released the object at a time in ticks, in the call stack that
/// `chain` numbers.
#[cold]
#[inline(never)]
fn note_release(object: usize, at: u64, chain: impl FnOnce() -> u32) {
    let by = stack::tid();
    if at != 0 && by != 0 {
        let _errno = KeepErrno::new();
        let chain = chain();
        release::note(object, Release { by, chain, at });
    }
}

/// Looks up all functions, because later a thread may hold the loader's lock. Called at the start.
pub(crate) fn look() {
    stack::look();
    for entry in entry_points::all() {
        entry.next();
    }
}

/// Logs the waits of threads that still wait. Called at the end of the process.
pub(crate) fn log_open() {
    open_waits::log_all();
}
