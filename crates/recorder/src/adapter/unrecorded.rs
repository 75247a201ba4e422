//! Subtrees of tasks that are not recorded ([`crate::budget`]), their parts, and those recorded to stand for them.

use super::operands::record_at;
use super::stop::next_yield;
use crate::front::{Handle, id};
use crate::thread;
use crate::wire::{Kind, wait};

/// What the current task does from the thread's last record on is a subtree of that class that is not recorded, until
/// [`recorded`]; its name.
///
/// # Safety
/// `h` is the calling thread's live handle, and a task is current.
pub unsafe fn unrecorded(h: *mut Handle, site: u32, level: u64, now: u64) -> u64 {
    // SAFETY: the caller's.
    unsafe {
        record_at(h, Kind::Unrecorded, now, [u64::from(site), level]);
        next_yield(h)
    }
}

/// That subtree has ended. Returns the time.
///
/// # Safety
/// `h` is the calling thread's live handle, and its task is in an unrecorded subtree.
pub unsafe fn recorded(h: *mut Handle) -> u64 {
    // SAFETY: the caller's.
    unsafe { Handle::event(h, Kind::Recorded) }
}

/// So many tasks created in the unrecorded subtree that the current task is in have begun on this thread since the open strand did; to be told right
/// before what ends that.
///
/// # Safety
/// As [`recorded`].
pub unsafe fn inside(h: *mut Handle, tasks: u64) {
    // SAFETY: the caller's.
    unsafe { record_at(h, Kind::Inside, (*h).last, [tasks]) }
}

/// The current task, which has just begun, was drawn to stand for those of its class.
///
/// # Safety
/// `h` is the calling thread's live handle.
pub unsafe fn sampled(h: *mut Handle, site: u32, level: u64) {
    // SAFETY: the caller's.
    unsafe { record_at(h, Kind::Sampled, (*h).last, [u64::from(site), level]) }
}

/// A task that was created somewhere in that unrecorded subtree begins on top of the thread's stack. Returns the time.
///
/// # Safety
/// `h` is the calling thread's live handle.
pub unsafe fn part_begin(h: *mut Handle, of: u64, site: u32) -> u64 {
    let (thread, count) = id::split(of).unwrap_or((u32::MAX, 0));
    // SAFETY: the caller's.
    unsafe {
        thread::deepen(h, 1);
        let now = Handle::now(h);
        record_at(
            h,
            Kind::Part,
            now,
            [u64::from(thread), count, u64::from(site)],
        );
        (*h).next_task += 1;
        now
    }
}

/// The current task waits, in an unrecorded subtree, for parts of it; it goes on with [`super::resume`].
///
/// # Safety
/// `h` is the calling thread's live handle, and its task is in an unrecorded subtree.
pub unsafe fn wait_parts_at(h: *mut Handle, now: u64) {
    // SAFETY: the caller's.
    unsafe { record_at(h, Kind::Wait, now, [0, wait::PARTS]) }
}
