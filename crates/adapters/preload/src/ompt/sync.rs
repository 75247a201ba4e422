//! Barriers, `taskwait`, task groups.

use core::ffi::c_int;

use workspan_recorder::adapter;
use workspan_recorder::front::Handle;
use workspan_recorder::wire::primitive;

use super::ffi::{Data, endpoint, sync};
use super::group_waits;
use super::kept::DETACHED;
use super::lane::{self, Lane};

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
        && let Some(lane) = lane::known()
        && let Some(subtree) = lane.left_out.subtree()
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
    let Some(lane) = lane::of_thread() else {
        return;
    };
    match kind {
        sync::TASKWAIT if begins => begin_taskwait(lane, return_address),
        sync::TASKWAIT => end_taskwait(lane),
        sync::TASKGROUP if begins => open_group(lane, return_address),
        sync::TASKGROUP => close_group(lane),
        sync::REDUCTION => {}
        _ if begins => lane.enter_barrier(),
        _ => lane.leave_barrier(),
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
    let Some(lane) = lane::of_thread() else {
        return;
    };
    lane.settle();
    if let Some(group) = lane.groups.last_mut() {
        group.waiting = true;
        // SAFETY: the handle and the subtree are this thread's.
        unsafe {
            match lane.left_out.subtree() {
                Some(subtree) => subtree.begin_wait(),
                None => adapter::wait_scope(lane.h, group.site, group.scope),
            }
        }
    }
}

#[inline]
fn begin_taskwait(lane: &mut Lane, return_address: usize) {
    lane.settle();
    let site = lane.site(return_address, primitive::TASKWAIT);
    // SAFETY: the handle is this thread's.
    unsafe {
        adapter::wait_children(lane.h, site);
        lane.after_wait = (*lane.h).cursor;
    }
}

#[inline]
fn end_taskwait(lane: &mut Lane) {
    let h = lane.h;
    // SAFETY: the handle is this thread's.
    unsafe {
        // Alone, with nothing run in between and nothing that another may end: there was nothing to wait for.
        let waited = lane.team_size > 1 || (*h).cursor != lane.after_wait || !DETACHED.is_empty();
        let now = if waited { Handle::now(h) } else { (*h).last };
        adapter::resume_at(h, now);
    }
}

fn open_group(lane: &mut Lane, return_address: usize) {
    group_waits::want();
    lane.settle();
    // A `taskloop` opens one of its own.
    let primitive = match lane.taskloop_call {
        0 => primitive::TASKGROUP,
        _ => primitive::TASKLOOP,
    };
    let (scope, site) = if lane.left_out.subtree().is_some() {
        (NONE, 0)
    } else {
        let site = lane.site(return_address, primitive);
        // SAFETY: the handle is this thread's.
        (unsafe { adapter::scope_open(lane.h, true) }, site)
    };
    lane.groups.push(Group {
        scope,
        site,
        owner: lane.current,
        waiting: false,
    });
}

fn close_group(lane: &mut Lane) {
    if let Some(group) = lane.groups.pop() {
        // SAFETY: the handle and the subtree are this thread's.
        unsafe {
            if group.scope == NONE {
                if let Some(subtree) = lane.left_out.subtree() {
                    if !group.waiting {
                        subtree.begin_wait();
                    }
                    subtree.end_wait();
                }
                return;
            }
            if !group.waiting {
                lane.settle();
                adapter::wait_scope(lane.h, group.site, group.scope);
            }
            adapter::resume(lane.h);
        }
    }
}
