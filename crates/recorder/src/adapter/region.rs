//! What OpenMP has and others have not: teams, dependences; and times that a lock took.

use super::operands::{push_pairs, record_at};
use super::root;
use super::task::next_scope;
use crate::front::{Handle, id};
use crate::system::KeepErrno;
use crate::thread;
use crate::wire::Kind;
use workspan_trace::entry::push_varint;

/// The first task cannot begin before the second has ended.
///
/// # Safety
/// `h` is the calling thread's live handle.
pub unsafe fn depend(h: *mut Handle, task: u64, on: u64) {
    if let (Some((a, b)), Some((c, d))) = (id::split(task), id::split(on)) {
        // SAFETY: the caller's.
        unsafe { Handle::event_with(h, Kind::Depend, [u64::from(a), b, u64::from(c), d]) };
    }
}

/// The dependences ([`crate::wire::dependence`] kind, address) of a task, told by its creator before it can begin.
///
/// # Safety
/// `h` is the calling thread's live handle.
pub unsafe fn depends(h: *mut Handle, task: u64, on: &[(u64, u64)]) {
    let Some((thread, seq)) = id::split(task) else {
        return;
    };
    let _errno = KeepErrno::new();
    let mut bytes = Vec::with_capacity(64);
    push_varint(&mut bytes, u64::from(thread));
    push_varint(&mut bytes, seq);
    push_pairs(&mut bytes, on.iter().copied());
    // SAFETY: the caller's handle; the bytes are as many as said.
    unsafe {
        thread::long_record(
            h,
            Kind::Depends,
            Handle::now(h),
            bytes.as_ptr(),
            bytes.len(),
        )
    }
}

/// The current task opens a parallel region and waits for it ([`Kind::Team`]); the team's number. It goes on with
/// [`super::resume`].
///
/// # Safety
/// `h` is the calling thread's live handle.
pub unsafe fn team(h: *mut Handle, site: u32) -> u64 {
    // SAFETY: the caller's.
    unsafe {
        root(h);
        Handle::event_with(h, Kind::Team, [u64::from(site)]);
        next_scope(h)
    }
}

/// This thread begins, at time `now`, the index-th task of a phase of a team ([`Kind::Member`]); [`super::task_end`] ends it. `now` may lie
/// before this moment, but not before the thread's last record: a thread that leaves a barrier does not know yet
/// whether its region goes on.
///
/// # Safety
/// `h` is the calling thread's live handle.
pub unsafe fn member(h: *mut Handle, team: u64, phase: u64, index: u64, now: u64) {
    let (thread, seq) = id::split(team).unwrap_or((u32::MAX, 0));
    // SAFETY: the caller's; four operands.
    unsafe {
        thread::deepen(h, 1);
        record_at(h, Kind::Member, now, [u64::from(thread), seq, phase, index]);
    }
}

/// The current strand waited for a lock from `since` (in ticks, [`Handle::now`]) until now: that time is blocked, not work.
///
/// # Safety
/// `h` is the calling thread's live handle.
pub unsafe fn blocked(h: *mut Handle, since: u64) {
    // SAFETY: the caller's.
    unsafe {
        let now = Handle::now(h);
        let mut p = Handle::head(h, Kind::Off, now);
        for v in [1, now.saturating_sub(since)] {
            p = crate::wire::put_varint(p, v);
        }
        Handle::commit(h, p);
    }
}
