//! Waits of the program's threads for each other, for time and for files: stands in front of the
//! C library's functions that wait or end a wait.
//!
//! `README.md` beside this file has the protocol. In short: an entry point in assembly calls
//! [`hooks`] before and after the C library's function; what took long goes to the recorder's log
//! with the call stack, and with who ended the wait ([`release`]). On other processors than x86-64
//! nothing is interposed, and waits are known from the kernel's context switches alone.

mod entry_points;
mod hooks;
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
    /// The same for a reader-writer lock, which other readers do not keep it from.
    AcquireToRead,
    /// It releases the lock of its second argument, and waits for the object of its first.
    Condition,
    /// The last of several calls for one object ends the others' waits.
    Barrier,
    /// It waits for no object of the process.
    Outside,
    /// It ends waits for the object of its first argument.
    Release,
    /// The same for a reader-writer lock, as its writer or as a reader.
    ReleaseReadOrWrite,
    /// The system call: the second and third argument say what it does, if it is `futex`.
    Syscall,
    /// It is called, and not interposed.
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

/// The version that the present condition variables have had since glibc 2.3.2. Without a version
/// the lookup may find those of before.
const CONDITION_VERSION: &CStr = c"GLIBC_2.3.2";
/// The version of those of before, on x86-64.
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
            // Another library's, a sanitizer's for example, has no versions.
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

/// Stands for a function that this C library has not: its callers only test whether it is there.
extern "C" fn missing() -> c_int {
    const ENOSYS: c_int = 38;
    ENOSYS
}

/// A runtime's own function made its caller, which returns there, wait for a lock: what an adapter
/// saw of it, since a time in ticks.
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

/// A runtime's lock: the calling thread is about to wait for it.
pub(crate) fn wait_for_lock_begins(object: usize) {
    release::begin(object);
}

/// The calling thread has it.
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

/// Looks all functions up: later a thread may hold the loader's lock. Called at the start.
pub(crate) fn look() {
    stack::look();
    for entry in entry_points::all() {
        entry.next();
    }
}
