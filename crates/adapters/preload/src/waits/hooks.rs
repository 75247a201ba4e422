//! The hooks before and after an interposed function, which the entry points call. They must not
//! unwind, allocate, take a lock or change `errno`, because the program may hold any lock here.

use core::sync::atomic::Ordering;

use workspan_recorder::adapter::KeepErrno;
use workspan_recorder::wait_log::{self, Wait};
use workspan_trace::entry::WaitKind;

use super::release::{self, Release};
use super::{Entry, Role, open_waits, stack};
use crate::entry_point::{Frame, HookResult};
use crate::loaded_files::is_ours;

pub(super) const FUTEX: usize = 202;
const FUTEX_COMMAND: usize = 0x7f;

/// The effect of a futex call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Futex {
    Wait,
    Wake,
    Other,
}

fn futex(number: usize, operation: usize) -> Futex {
    match (number, operation & FUTEX_COMMAND) {
        // The operations: wait, wait by bits; wake, wake and requeue, wake by bits.
        (FUTEX, 0 | 9) => Futex::Wait,
        (FUTEX, 1 | 3 | 4 | 5 | 10) => Futex::Wake,
        _ => Futex::Other,
    }
}

/// The object that a call waits for; 0 if it is not an object of the process.
fn awaited(entry: &Entry, frame: Frame) -> Option<usize> {
    // SAFETY: the entry points save all arguments of their functions.
    unsafe {
        match entry.role {
            Role::Acquire | Role::AcquireToRead | Role::Condition | Role::Barrier => {
                Some(frame.argument(0))
            }
            Role::Outside => Some(0),
            Role::Syscall => {
                let call = futex(frame.argument(0), frame.argument(2));
                (call == Futex::Wait).then(|| frame.argument(1))
            }
            Role::Release | Role::ReleaseReadOrWrite | Role::Called => None,
        }
    }
}

/// The object that a call releases.
fn released(entry: &Entry, frame: Frame) -> Option<usize> {
    // SAFETY: the entry points save all arguments of their functions.
    unsafe {
        match entry.role {
            Role::Release | Role::ReleaseReadOrWrite | Role::Barrier => Some(frame.argument(0)),
            Role::Condition => Some(frame.argument(1)),
            Role::Syscall => {
                let call = futex(frame.argument(0), frame.argument(2));
                (call == Futex::Wake).then(|| frame.argument(1))
            }
            Role::Acquire | Role::AcquireToRead | Role::Outside | Role::Called => None,
        }
    }
}

/// The hook before the C library's function.
pub(super) extern "C" fn before(entry: &'static Entry, frame: Frame) -> HookResult {
    let next = match entry.next.load(Ordering::Acquire) {
        0 => entry.next(),
        next => next,
    };
    let begin = wait_log::now();
    let nothing = HookResult { next, begin: 0 };
    if begin == 0 {
        return nothing;
    }
    if let Some(object) = released(entry, frame) {
        note_release(entry, object, begin, frame);
    }
    match awaited(entry, frame) {
        None => nothing,
        Some(object) => {
            if object != 0 {
                release::begin(object);
            }
            open_waits::begin(entry, object, begin, frame.returns_to());
            HookResult { next, begin }
        }
    }
}

/// The hook after the C library's function, if `begin` is not 0.
pub(super) extern "C" fn after(entry: &Entry, frame: Frame, begin: u64) {
    let Some(object) = awaited(entry, frame) else {
        return;
    };
    if object != 0 {
        release::end(object);
    }
    open_waits::end();
    let end = wait_log::now();
    if wait_log::is_long(begin, end) && !is_ours(frame.returns_to()) {
        log(entry, object, (begin, end), frame);
    }
}

#[cold]
#[inline(never)]
fn log(entry: &Entry, object: usize, (begin, end): (u64, u64), frame: Frame) {
    let tid = stack::tid();
    if tid == 0 {
        return;
    }
    let _errno = KeepErrno::new();
    let release = match object {
        0 => None,
        _ => last_release(entry, object, begin, end).filter(|release| release.by != tid),
    };
    wait_log::wait(&Wait {
        tid,
        kind: entry.kind,
        begin,
        end,
        object,
        chain: frame.chain(),
        by: release.map_or(0, |release| release.by),
        released_at: release.map_or(0, |release| release.chain),
        released: release.map_or(end, |release| release.at),
    });
}

/// The hook before a function that releases: notes the release if a thread may wait. Returns the
/// function.
pub(super) extern "C" fn releases(entry: &Entry, frame: Frame) -> usize {
    let now = wait_log::now();
    if now != 0
        && let Some(object) = released(entry, frame)
    {
        note_release(entry, object, now, frame);
    }
    entry.next()
}

/// The offset of the address at which releases by readers are noted, because they do not end the
/// wait of another reader.
const READERS: usize = 1 << release::SHIFT;

/// The last release that may have ended a wait.
fn last_release(entry: &Entry, object: usize, begin: u64, end: u64) -> Option<Release> {
    let last = release::last(object, begin, end);
    let by_reader = match (entry.role, entry.kind) {
        (Role::Acquire, WaitKind::RwLock) => release::last(object + READERS, begin, end),
        _ => None,
    };
    [last, by_reader]
        .into_iter()
        .flatten()
        .max_by_key(|release| release.at)
}

fn note_release(entry: &Entry, mut object: usize, now: u64, frame: Frame) {
    if !release::is_awaited(object) || is_ours(frame.returns_to()) {
        return;
    }
    // SAFETY: the C library's function is about to read the lock.
    if entry.role == Role::ReleaseReadOrWrite && unsafe { !is_writer(object) } {
        object += READERS;
    }
    super::note_release(object, now, || frame.chain());
}

/// Whether the calling thread holds the reader-writer lock as its writer: glibc has the writer's id
/// in the seventh word.
///
/// # Safety
/// `lock` is the address of a `pthread_rwlock_t`.
unsafe fn is_writer(lock: usize) -> bool {
    const WRITER: usize = 6;
    let word = (lock as *const u32).wrapping_add(WRITER);
    // SAFETY: the caller guarantees a lock, which has 14 words.
    unsafe { word.read_volatile() == stack::tid() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_and_clock_flags_do_not_hide_what_a_futex_call_does() {
        assert_eq!(futex(FUTEX, 9 | 128 | 256), Futex::Wait);
        assert_eq!(futex(FUTEX, 128), Futex::Wait);
        assert_eq!(futex(FUTEX, 1 | 128), Futex::Wake);
        assert_eq!(futex(FUTEX, 6), Futex::Other);
        assert_eq!(futex(1, 0), Futex::Other);
    }
}
