//! Parallel regions and the implicit tasks of their teams.

use core::ffi::{c_int, c_uint, c_void};
use core::ptr;
use core::sync::atomic::AtomicU32;

use workspan_recorder::adapter::LiveHandle;
use workspan_recorder::wire::primitive;

use super::ffi::{Data, endpoint};
use super::start;
use super::task_word::IMPLICIT;
use super::thread_state::{self, PendingBegin, ThreadState};
use super::worksharing::LoopShare;
use crate::site_cache;

/// An implicit task: one thread's part in a team. The runtime reports the end of a worker's
/// implicit task only when the worker's next region begins, and does not name the region. So all
/// data needed then are kept here.
pub(super) struct Member {
    team: u64,
    index: u64,
    phase: u64,
    /// Whether the task of this phase has begun and not ended.
    running: bool,
    pub(super) size: u32,
    /// The thread's share of the current loop.
    pub(super) shared: LoopShare,
    /// Site of the `taskloop` that it called last. Other threads read it when they create the
    /// tasks.
    pub(super) taskloop: AtomicU32,
    /// The next outer implicit task of this thread.
    pub(super) outer: *mut Member,
}

impl Member {
    /// Begins the task of the next phase, at time `since`.
    pub(super) fn enter_phase(&mut self, h: LiveHandle, since: u64) {
        self.phase += 1;
        self.running = true;
        h.member(self.team, self.phase, self.index, since);
    }

    /// Ends the task of this phase, and everything that a cancellation left open in it.
    fn leave_phase(&mut self, h: LiveHandle) {
        if self.running {
            self.running = false;
            let now = h.now();
            self.shared.close(h, now);
            h.task_end_at(now);
        }
    }
}

impl ThreadState {
    /// A barrier of the team begins: the thread's implicit task ends.
    pub(super) fn enter_barrier(&mut self) {
        self.write_pending_begin();
        // SAFETY: the innermost member lives until its implicit task ends.
        unsafe {
            if let Some(member) = self.member.as_mut() {
                member.leave_phase(self.h);
            }
        }
    }

    /// A barrier ends: the implicit task goes on, unless the region is over.
    pub(super) fn leave_barrier(&mut self) {
        // SAFETY: the innermost member lives until its implicit task ends.
        unsafe {
            if let Some(member) = self.member.as_mut()
                && !member.running
            {
                self.pending_begin = PendingBegin::Member(self.h.now());
            }
        }
    }
}

/// `ompt_callback_parallel_begin_t`.
pub(super) extern "C" fn parallel_begin(
    encountering: *mut Data,
    _frame: *const c_void,
    parallel: *mut Data,
    _requested: c_uint,
    _flags: c_int,
    return_address: usize,
) {
    let Some(thread) = thread_state::current() else {
        return;
    };
    thread.runs(encountering);
    thread.write_pending_begin();
    let function = core::mem::take(&mut thread.region_function);
    let site = if function != 0 && start::is_runtime(return_address) {
        site_cache::at(function, primitive::PARALLEL, false)
    } else {
        thread.site(return_address, primitive::PARALLEL)
    };
    // SAFETY: the runtime's word for the tool is ours to write during the call.
    unsafe {
        thread.left_out.open_region();
        let team = thread.h.team(site);
        if let Some(parallel) = parallel.as_mut() {
            parallel.value = team;
        }
    }
}

/// `ompt_callback_parallel_end_t`.
pub(super) extern "C" fn parallel_end(
    _parallel: *mut Data,
    encountering: *mut Data,
    _flags: c_int,
    _return_address: usize,
) {
    let Some(thread) = thread_state::current() else {
        return;
    };
    thread.current = encountering;
    thread.h.resume();
    thread.left_out.close_region();
}

/// `ompt_callback_implicit_task_t`. The initial tasks of a league come here too, as members of the
/// league. A thread's own initial task belongs to no recorded region.
pub(super) extern "C" fn implicit_task(
    which: c_int,
    parallel: *mut Data,
    task: *mut Data,
    size: c_uint,
    index: c_uint,
    _flags: c_int,
) {
    let Some(thread) = thread_state::current() else {
        return;
    };
    if which != endpoint::BEGIN {
        return end(thread);
    }
    thread.current = task;
    // SAFETY: each is null, or valid during the call.
    let (team, Some(task)) = (unsafe {
        (
            parallel.as_ref().map_or(0, |parallel| parallel.value),
            task.as_mut(),
        )
    }) else {
        return;
    };
    if team == 0 {
        return;
    }
    let fresh = Member {
        team,
        index: u64::from(index),
        phase: 0,
        running: true,
        size,
        shared: LoopShare::new(),
        taskloop: AtomicU32::new(0),
        outer: thread.member,
    };
    let member = match thread.spare.pop() {
        Some(spare) => {
            // SAFETY: a spare member came from a box and is in no other list.
            unsafe { *spare = fresh };
            spare
        }
        None => Box::into_raw(Box::new(fresh)),
    };
    thread.member = member;
    thread.team_size = size;
    task.value = IMPLICIT | member as u64;
    thread.work_here();
    let now = thread.h.now();
    thread.h.member(team, 0, u64::from(index), now);
}

/// The innermost implicit task of this thread ends.
fn end(thread: &mut ThreadState) {
    let at = thread.member;
    // SAFETY: the innermost member lives until here.
    let Some(member) = (unsafe { at.as_mut() }) else {
        return;
    };
    if member.size == 1 {
        // A team of one has no barrier at its end, so no event showed whether a begin was pending.
        thread.write_pending_begin();
    }
    thread.pending_begin = PendingBegin::None;
    member.leave_phase(thread.h);
    thread.member = member.outer;
    thread.current = ptr::null_mut();
    // SAFETY: null, or the outer member, which has not ended.
    thread.team_size = unsafe { thread.member.as_ref() }.map_or(1, |outer| outer.size);
    thread.spare.push(at);
}
