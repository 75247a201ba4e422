//! Tasks: created, begun and ended; scopes.

use super::operands::record_at;
use super::root;
use crate::front::{Handle, id};
use crate::thread;
use crate::wire::{Kind, create};

/// The current task creates one ([`create`] kind, into a scope if not 0) and goes on; the task's number.
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn task_create(h: *mut Handle, kind: u64, site: u32, scope: u64) -> u64 {
    // SAFETY: the caller's.
    unsafe {
        root(h);
        task_create_at(h, kind, site, scope, Handle::now(h))
    }
}

/// [`task_create`] at time `now`, by a task that is surely there.
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn task_create_at(h: *mut Handle, kind: u64, site: u32, scope: u64, now: u64) -> u64 {
    // SAFETY: the caller's.
    unsafe {
        match id::split(scope) {
            Some((thread, seq)) => record_at(
                h,
                Kind::Create,
                now,
                [
                    kind | create::SCOPED,
                    u64::from(site),
                    u64::from(thread),
                    seq,
                ],
            ),
            None => record_at(h, Kind::Create, now, [kind, u64::from(site)]),
        }
        let count = (*h).next_task;
        (*h).next_task = count + 1;
        id::new((*h).thread, count)
    }
}

/// A task begins on top of the thread's stack. Returns the time.
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn task_begin(h: *mut Handle, task: u64) -> u64 {
    // SAFETY: the caller's.
    unsafe {
        let now = Handle::now(h);
        task_begin_at(h, task, now);
        now
    }
}

/// [`task_begin`] at time `now`.
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn task_begin_at(h: *mut Handle, task: u64, now: u64) {
    let (thread, seq) = id::split(task).unwrap_or((u32::MAX, 0));
    // SAFETY: the caller's.
    unsafe {
        thread::deepen(h, 1);
        record_at(h, Kind::Begin, now, [u64::from(thread), seq]);
    }
}

/// The task on top of the thread's stack ends. Returns the time.
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn task_end(h: *mut Handle) -> u64 {
    // SAFETY: the caller's.
    unsafe {
        let now = Handle::now(h);
        task_end_at(h, now);
        now
    }
}

/// [`task_end`] at time `now`.
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn task_end_at(h: *mut Handle, now: u64) {
    // SAFETY: the caller's.
    unsafe {
        thread::deepen(h, -1);
        record_at(h, Kind::End, now, []);
    }
}

/// The task on top ends, and the one below, which waited for it, goes on at the same tick.
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn task_end_resume(h: *mut Handle) {
    // SAFETY: the caller's.
    unsafe {
        thread::deepen(h, -1);
        Handle::event(h, Kind::EndResume);
    }
}

/// The current task opens a scope, a tree or a group; the scope's number.
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn scope_open(h: *mut Handle, tree: bool) -> u64 {
    // SAFETY: the caller's.
    unsafe {
        root(h);
        scope_open_at(h, tree, Handle::now(h))
    }
}

/// [`scope_open`] at time `now`, by a task that is surely there.
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn scope_open_at(h: *mut Handle, tree: bool, now: u64) -> u64 {
    // SAFETY: the caller's.
    unsafe {
        record_at(h, Kind::Scope, now, [u64::from(tree)]);
        next_scope(h)
    }
}

/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub(super) unsafe fn next_scope(h: *mut Handle) -> u64 {
    // SAFETY: the caller's.
    unsafe {
        let count = (*h).next_scope;
        (*h).next_scope = count + 1;
        id::new((*h).thread, count)
    }
}
