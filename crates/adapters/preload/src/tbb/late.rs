//! Ends that come late. A task's body itself lets the wait for it go on, as its last act, and only then returns to us: a
//! waiting task on another thread may be on its way before the end is told. Such an end is told at the time at which the
//! wait was seen to be over, which is no earlier than what released it.
//!
//! The waiting thread notes the time, with a full barrier, before it takes the time of its going on; the ending thread
//! takes its time before it looks. So one that finds no note ended before the other went on; and one that finds no other worker,
//! of which there is one before a wait begins there, likewise. The notes are kept in slots that
//! scopes share by chance; one that is overwritten in between leaves a late end late, which the reader of the trace sets
//! right with a warning.

use std::sync::atomic::{AtomicU64, Ordering};

use workspan_recorder::front::Handle;

use super::several_workers;

const SLOTS: usize = 1 << 12;

struct Note {
    scope: AtomicU64,
    /// In ticks.
    over: AtomicU64,
}

static NOTES: [Note; SLOTS] = [const {
    Note {
        scope: AtomicU64::new(0),
        over: AtomicU64::new(0),
    }
}; SLOTS];

fn note(scope: u64) -> &'static Note {
    &NOTES[(scope.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52) as usize % SLOTS]
}

/// The wait for a scope is over; from here on the time of going on may be taken.
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub(super) unsafe fn over(h: *mut Handle, scope: u64) {
    // SAFETY: the caller's.
    let now = unsafe { Handle::now(h) };
    let note = note(scope);
    note.over.store(now, Ordering::Relaxed);
    note.scope.swap(scope, Ordering::SeqCst);
}

/// When a task of the scope ended: now, unless the wait for it was over by then.
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub(super) unsafe fn end(h: *mut Handle, scope: u64) -> u64 {
    // SAFETY: the caller's.
    let now = unsafe { Handle::now(h) };
    if !several_workers() {
        return now;
    }
    let note = note(scope);
    if scope != 0 && note.scope.load(Ordering::SeqCst) == scope {
        now.min(note.over.load(Ordering::Relaxed))
    } else {
        now
    }
}
