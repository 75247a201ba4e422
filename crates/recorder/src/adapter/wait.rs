//! Waits, and what follows them at once.

use super::operands::{optional, push_pairs, record_at};
use super::root;
use crate::front::{Handle, id};
use crate::system::KeepErrno;
use crate::thread;
use crate::wire::{Kind, wait};
use workspan_trace::entry::push_varint;

/// The current task waits for all its children; it goes on with [`resume`].
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn wait_children(h: *mut Handle, site: u32) {
    // SAFETY: the caller's.
    unsafe {
        root(h);
        Handle::event_with(h, Kind::Wait, [optional(site), wait::CHILDREN]);
    }
}

/// The current task waits for the members of a scope, which is closed by that; it goes on with [`resume`].
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn wait_scope(h: *mut Handle, site: u32, scope: u64) {
    // SAFETY: the caller's.
    unsafe {
        root(h);
        wait_scope_at(h, site, scope, Handle::now(h));
    }
}

/// [`wait_scope`] at time `now`, by a task that is surely there.
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn wait_scope_at(h: *mut Handle, site: u32, scope: u64, now: u64) {
    let (thread, seq) = id::split(scope).unwrap_or((u32::MAX, 0));
    let operands = [optional(site), wait::SCOPE, u64::from(thread), seq];
    // SAFETY: the caller's.
    unsafe { record_at(h, Kind::Wait, now, operands) }
}

/// The current task waits for this task (an undeferred child, say); it goes on with [`resume`].
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn wait_task(h: *mut Handle, site: u32, task: u64) {
    // SAFETY: the caller's.
    unsafe {
        root(h);
        wait_task_at(h, site, task, Handle::now(h));
    }
}

/// [`wait_task`] at time `now`, by a task that is surely there.
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn wait_task_at(h: *mut Handle, site: u32, task: u64, now: u64) {
    let (thread, seq) = id::split(task).unwrap_or((u32::MAX, 0));
    let operands = [optional(site), wait::TASKS, 1, u64::from(thread), seq];
    // SAFETY: the caller's; 5 operands.
    unsafe { record_at(h, Kind::Wait, now, operands) }
}

/// The current task waits for these tasks; it goes on with [`resume`].
///
/// # Safety
/// `h` is the calling thread's live handle.
pub unsafe fn wait_tasks(h: *mut Handle, site: u32, tasks: &[u64]) {
    let named = tasks.iter().filter_map(|&task| id::split(task));
    let pairs = named.map(|(thread, seq)| (u64::from(thread), seq));
    // SAFETY: the caller's.
    unsafe {
        root(h);
        wait_list(h, site, wait::TASKS, pairs);
    }
}

/// The current task waits for this signal; it goes on with [`resume`].
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn wait_signal(h: *mut Handle, site: u32, signal: u64) {
    // SAFETY: the caller's.
    unsafe {
        root(h);
        wait_signal_at(h, site, signal, Handle::now(h));
    }
}

/// [`wait_signal`] at time `now`, by a task that is surely there.
///
/// # Safety
/// `h` is the calling thread's live handle.
pub unsafe fn wait_signal_at(h: *mut Handle, site: u32, signal: u64, now: u64) {
    // SAFETY: the caller's; 4 operands.
    unsafe {
        record_at(
            h,
            Kind::Wait,
            now,
            [optional(site), wait::SIGNALS, 1, signal],
        )
    }
}

/// The current task waits for those of its children that a task with these dependences ([`crate::wire::dependence`] kind,
/// address) would depend on; it goes on with [`resume`].
///
/// # Safety
/// `h` is the calling thread's live handle.
pub unsafe fn wait_dependences(h: *mut Handle, site: u32, on: &[(u64, u64)]) {
    // SAFETY: the caller's.
    unsafe {
        root(h);
        wait_list(h, site, wait::DEPENDENCES, on.iter().copied());
    }
}

/// # Safety
/// `h` is the calling thread's live handle.
unsafe fn wait_list(
    h: *mut Handle,
    site: u32,
    what: u64,
    pairs: impl Iterator<Item = (u64, u64)> + Clone,
) {
    let _errno = KeepErrno::new();
    let mut bytes = Vec::with_capacity(64);
    push_varint(&mut bytes, optional(site));
    push_varint(&mut bytes, what);
    push_pairs(&mut bytes, pairs);
    // SAFETY: the caller's handle; the bytes are as many as said.
    unsafe { thread::long_record(h, Kind::Wait, Handle::now(h), bytes.as_ptr(), bytes.len()) }
}

/// The task on top goes on after a wait or a yield. Returns the time.
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn resume(h: *mut Handle) -> u64 {
    // SAFETY: the caller's.
    unsafe { Handle::event(h, Kind::Resume) }
}

/// [`resume`] at time `now`.
///
/// # Safety
/// `h` is the calling thread's live handle.
#[inline]
pub unsafe fn resume_at(h: *mut Handle, now: u64) {
    // SAFETY: the caller's.
    unsafe { record_at(h, Kind::Resume, now, []) }
}

/// The current task sets a signal (`TABLE.signal_new` gives numbers).
///
/// # Safety
/// `h` is the calling thread's live handle.
pub unsafe fn signal(h: *mut Handle, site: u32, signal: u64) {
    // SAFETY: the caller's.
    unsafe {
        root(h);
        Handle::event_with(h, Kind::Signal, [optional(site), signal]);
    }
}
