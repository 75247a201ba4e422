//! Barriers, `taskwait` and task groups.

use core::ffi::c_int;

use workspan_recorder::wire::primitive;

use super::ffi::{Data, endpoint, sync};
use super::group_waits;
use super::task_side_table::DETACHED;
use super::thread_state::{self, ThreadState};

/// The scope of a group in a skipped subtree, where the group is only a wait.
const NONE: u64 = 0;

/// A task group that is open on a thread's stack.
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
    task: *mut Data,
    return_address: usize,
) {
    let begins = which == endpoint::BEGIN;
    if kind == sync::TASKWAIT
        && let Some(thread) = thread_state::existing()
        && let Some(subtree) = thread.left_out.subtree()
    {
        return {
            match begins {
                true => subtree.begin_wait(),
                false => subtree.end_wait(),
            }
        };
    }
    recorded(kind, begins, task, return_address);
}

/// Handles everything except a skipped `taskwait`.
#[inline(never)]
fn recorded(kind: c_int, begins: bool, task: *mut Data, return_address: usize) {
    let Some(thread) = thread_state::current() else {
        return;
    };
    if kind != sync::TASKGROUP {
        // For task groups, libomp passes a copy of its data of the task.
        thread.runs(task);
    }
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

/// `ompt_callback_sync_region_t` for the wait inside of a region: the body of a task group ends
/// there.
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

/// The body of the innermost task group has ended.
#[inline(never)]
fn wait_for_group() {
    let Some(thread) = thread_state::current() else {
        return;
    };
    thread.write_pending_begin();
    if let Some(group) = thread.groups.last_mut() {
        group.waiting = true;
        match thread.left_out.subtree() {
            Some(subtree) => subtree.begin_wait(),
            None => thread.h.wait_scope(group.site, group.scope),
        }
    }
}

#[inline]
fn begin_taskwait(thread: &mut ThreadState, return_address: usize) {
    thread.write_pending_begin();
    let site = thread.site(return_address, primitive::TASKWAIT);
    thread.h.wait_children(site);
    thread.after_wait = thread.h.cursor();
}

#[inline]
fn end_taskwait(thread: &mut ThreadState) {
    let h = thread.h;
    // If the thread is alone in its team, nothing was recorded in between and no detached task may
    // end elsewhere, there was nothing to wait for.
    let waited = thread.team_size > 1 || h.cursor() != thread.after_wait || !DETACHED.is_empty();
    let now = if waited { h.now() } else { h.last() };
    h.resume_at(now);
}

fn open_group(thread: &mut ThreadState, return_address: usize) {
    group_waits::want();
    thread.write_pending_begin();
    // A `taskloop` opens a group of its own.
    let primitive = match thread.taskloop_call {
        0 => primitive::TASKGROUP,
        _ => primitive::TASKLOOP,
    };
    let (scope, site) = if thread.left_out.subtree().is_some() {
        (NONE, 0)
    } else {
        let site = thread.site(return_address, primitive);
        (thread.h.scope_open(true), site)
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
            thread.h.wait_scope(group.site, group.scope);
        }
        thread.h.resume();
    }
}
