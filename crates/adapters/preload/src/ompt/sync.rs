//! Barriers, `taskwait`, task groups.

use core::ffi::c_int;

use workspan_recorder::adapter;
use workspan_recorder::front::Handle;
use workspan_recorder::wire::primitive;

use super::ffi::{Data, endpoint, sync};
use super::group_waits;
use super::task_side_table::DETACHED;
use super::thread_state::{self, ThreadState};

/// The scope of a group in an unrecorded subtree, where it is a wait alone.
const NONE: u64 = 0;

/// A task group open on a thread's stack.
#[derive(Debug, Clone, Copy)]
pub(super) struct Group {
    scope: u64,
    site: u32,
    /// The task that opened it.
    pub(super) owner: *mut Data,
    waiting: bool,
}

// SAFETY: the owner is compared, never followed.
unsafe impl Send for Group {}

/// `ompt_callback_sync_region_t`.
pub(super) extern "C" fn sync_region(
    kind: c_int,
    which: c_int,
    _parallel: *mut Data,
    _task: *mut Data,
    return_address: usize,
) {
    let begins = which == endpoint::BEGIN;
    if kind == sync::TASKWAIT
        && let Some(thread) = thread_state::existing()
        && let Some(subtree) = thread.left_out.subtree()
    {
        // SAFETY: on the subtree's thread, in a task of it.
        return unsafe {
            match begins {
                true => subtree.begin_wait(),
                false => subtree.end_wait(),
            }
        };
    }
    recorded(kind, begins, return_address);
}

/// All but a `taskwait` that is left out.
#[inline(never)]
fn recorded(kind: c_int, begins: bool, return_address: usize) {
    let Some(thread) = thread_state::current() else {
        return;
    };
    match kind {
        sync::TASKWAIT if begins => begin_taskwait(thread, return_address),
        sync::TASKWAIT => end_taskwait(thread),
        sync::TASKGROUP if begins => open_group(thread, return_address),
        sync::TASKGROUP => close_group(thread),
        sync::REDUCTION => {}
        _ if begins => thread.enter_barrier(),
        _ => thread.leave_barrier(),
    }
}

/// `ompt_callback_sync_region_t`, for the wait inside of a region: it is where a task group's body ends.
pub(super) extern "C" fn sync_region_wait(
    kind: c_int,
    which: c_int,
    _parallel: *mut Data,
    _task: *mut Data,
    _return_address: usize,
) {
    if kind == sync::TASKGROUP && which == endpoint::BEGIN {
        wait_for_group();
    }
}

/// The innermost task group's body has ended.
#[inline(never)]
fn wait_for_group() {
    let Some(thread) = thread_state::current() else {
        return;
    };
    thread.write_pending_begin();
    if let Some(group) = thread.groups.last_mut() {
        group.waiting = true;
        // SAFETY: the handle and the subtree are this thread's.
        unsafe {
            match thread.left_out.subtree() {
                Some(subtree) => subtree.begin_wait(),
                None => adapter::wait_scope(thread.h, group.site, group.scope),
            }
        }
    }
}

#[inline]
fn begin_taskwait(thread: &mut ThreadState, return_address: usize) {
    thread.write_pending_begin();
    let site = thread.site(return_address, primitive::TASKWAIT);
    // SAFETY: the handle is this thread's.
    unsafe {
        adapter::wait_children(thread.h, site);
        thread.after_wait = (*thread.h).cursor;
    }
}

#[inline]
fn end_taskwait(thread: &mut ThreadState) {
    let h = thread.h;
    // SAFETY: the handle is this thread's.
    unsafe {
        // Alone, with nothing run in between and nothing that another may end: there was nothing to wait for.
        let waited =
            thread.team_size > 1 || (*h).cursor != thread.after_wait || !DETACHED.is_empty();
        let now = if waited { Handle::now(h) } else { (*h).last };
        adapter::resume_at(h, now);
    }
}

fn open_group(thread: &mut ThreadState, return_address: usize) {
    group_waits::want();
    thread.write_pending_begin();
    // A `taskloop` opens one of its own.
    let primitive = match thread.taskloop_call {
        0 => primitive::TASKGROUP,
        _ => primitive::TASKLOOP,
    };
    let (scope, site) = if thread.left_out.subtree().is_some() {
        (NONE, 0)
    } else {
        let site = thread.site(return_address, primitive);
        // SAFETY: the handle is this thread's.
        (unsafe { adapter::scope_open(thread.h, true) }, site)
    };
    thread.groups.push(Group {
        scope,
        site,
        owner: thread.current,
        waiting: false,
    });
}

fn close_group(thread: &mut ThreadState) {
    if let Some(group) = thread.groups.pop() {
        // SAFETY: the handle and the subtree are this thread's.
        unsafe {
            if group.scope == NONE {
                if let Some(subtree) = thread.left_out.subtree() {
                    if !group.waiting {
                        subtree.begin_wait();
                    }
                    subtree.end_wait();
                }
                return;
            }
            if !group.waiting {
                thread.write_pending_begin();
                adapter::wait_scope(thread.h, group.site, group.scope);
            }
            adapter::resume(thread.h);
        }
    }
}
