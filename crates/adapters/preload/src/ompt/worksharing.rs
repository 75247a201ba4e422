//! Loops and sections that a team shares, and the `taskloop` construct.

use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use workspan_recorder::adapter::LiveHandle;
use workspan_recorder::wire::{create, primitive};

use super::ffi::{Chunk, Data, dispatch, endpoint, work};
use super::start;
use super::task_word::{self, IMPLICIT, ON_STACK};
use super::thread_state::{self, ThreadState};

/// Whether the runtime reports chunks (before LLVM 15 it does not).
pub(super) static REPORTS_CHUNKS: AtomicBool = AtomicBool::new(true);

/// Whether the trace has the warning about chunks that are not reported.
static HAS_WARNED: AtomicBool = AtomicBool::new(false);

/// One thread's share of a loop: chunks are inline tasks of the loop's site, in one group scope. In
/// OpenMP, tasks that a chunk creates are children of the implicit task; the trace's reader makes
/// them so.
pub(super) struct LoopShare {
    site: u32,
    scope: u64,
    chunk: bool,
    /// Whether the open chunk began before the event that reports it.
    ahead: bool,
}

impl LoopShare {
    pub(super) fn new() -> LoopShare {
        LoopShare {
            site: 0,
            scope: 0,
            chunk: false,
            ahead: false,
        }
    }

    /// A chunk begins, and the one before ends.
    fn next_chunk(&mut self, h: LiveHandle) {
        let now = h.now();
        if self.chunk {
            h.task_end_at(now);
        }
        if self.scope == 0 {
            self.scope = h.scope_open_at(false, now);
        }
        let chunk = h.task_create_at(create::INLINE, self.site, self.scope, now);
        h.task_begin_at(chunk, now);
        self.chunk = true;
        self.ahead = false;
    }

    /// The thread leaves the loop.
    pub(super) fn close(&mut self, h: LiveHandle, now: u64) {
        if self.chunk {
            h.task_end_at(now);
        }
        if self.scope != 0 {
            h.wait_scope_at(self.site, self.scope, now);
            h.resume_at(now);
        }
        (self.scope, self.chunk, self.ahead) = (0, false, false);
    }
}

/// `ompt_callback_work_t`.
pub(super) extern "C" fn work(
    kind: c_int,
    which: c_int,
    _parallel: *mut Data,
    task: *mut Data,
    count: u64,
    return_address: usize,
) {
    let Some(thread) = thread_state::current() else {
        return;
    };
    thread.runs(task);
    let begins = which == endpoint::BEGIN;
    match kind {
        work::TASKLOOP if begins => enter_taskloop(thread, task, return_address),
        work::SECTIONS => share(thread, begins, kind, count, return_address),
        work::LOOP | work::LOOP_STATIC..=work::LOOP_OTHER => {
            share(thread, begins, kind, count, return_address);
        }
        _ => {}
    }
}

fn share(thread: &mut ThreadState, begins: bool, kind: c_int, count: u64, return_address: usize) {
    thread.write_pending_begin();
    let primitive = match kind {
        work::SECTIONS => primitive::SECTION,
        _ => primitive::LOOP,
    };
    let site = if begins {
        thread.site(return_address, primitive)
    } else {
        0
    };
    // SAFETY: null, or the innermost member, which lives until its implicit task ends.
    let Some(member) = (unsafe { thread.member.as_mut() }) else {
        return;
    };
    if member.shared.chunk || !begins {
        member.shared.close(thread.h, thread.h.now());
    }
    if begins {
        member.shared.site = site;
        // The runtime reports no chunks of a static loop, or of sections, to a team of one, which
        // gets the whole loop. LLVM 15 reports every loop as `LOOP`. If such a loop is not static,
        // it makes one chunk for a team of one, which is then reported and known to be open.
        let untold = match kind {
            work::SECTIONS | work::LOOP | work::LOOP_STATIC => member.size == 1,
            _ => false,
        };
        let reports = REPORTS_CHUNKS.load(Ordering::Relaxed);
        if count > 0 && (untold || !reports) {
            member.shared.next_chunk(thread.h);
            member.shared.ahead = true;
        }
        if !reports && kind != work::SECTIONS && member.size > 1 {
            warn_of_chunks();
        }
    }
}

/// Says in the trace, once, that chunks are missing. A program without such loops misses none.
fn warn_of_chunks() {
    if !HAS_WARNED.load(Ordering::Relaxed) && !HAS_WARNED.swap(true, Ordering::Relaxed) {
        start::note(
            "warning",
            "This version of LLVM OpenMP does not report loop chunks: each thread's share of a loop appears as one chunk",
        );
    }
}

/// `ompt_callback_dispatch_t`.
pub(super) extern "C" fn dispatched(
    _parallel: *mut Data,
    task: *mut Data,
    kind: c_int,
    instance: *const Chunk,
) {
    let empty = match kind {
        // SAFETY: null, or valid during the call.
        dispatch::LOOP_CHUNK => unsafe { instance.as_ref() }.is_some_and(|c| c.iterations == 0),
        dispatch::ITERATION | dispatch::SECTION => false,
        _ => return,
    };
    let Some(thread) = thread_state::current() else {
        return;
    };
    thread.runs(task);
    thread.write_pending_begin();
    // SAFETY: null, or the innermost member, which lives until its implicit task ends.
    unsafe {
        if let Some(member) = thread.member.as_mut() {
            if member.shared.ahead {
                member.shared.ahead = false;
            } else if !empty {
                member.shared.next_chunk(thread.h);
            }
        }
    }
}

/// Addresses in the runtime that it reports, instead of the program's, for the creates of a
/// `taskloop`.
static INSIDE: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];

/// A `taskloop` begins to create its tasks. Its site is stored with the task that encountered it,
/// because other threads create tasks on its behalf.
fn enter_taskloop(thread: &mut ThreadState, task: *mut Data, return_address: usize) {
    let call = core::mem::take(&mut thread.taskloop_call);
    thread.left_out.is_more();
    if call == 0 {
        // The call did not come through our entry point, so only the event's address is known.
        return;
    }
    if INSIDE
        .iter()
        .all(|a| a.load(Ordering::Relaxed) != return_address)
    {
        let free = INSIDE.iter().find(|a| {
            a.compare_exchange(0, return_address, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
        });
        if free.is_none() {
            return;
        }
    }
    thread.write_pending_begin();
    let site = thread.site(call, primitive::TASKLOOP);
    // SAFETY: this thread may write the word of a task that runs here; a member lives until its
    // task ends.
    unsafe {
        let Some(task) = task.as_mut() else { return };
        if task.value & IMPLICIT != 0 {
            if let Some(member) = thread.member.as_ref() {
                member.taskloop.store(site, Ordering::Relaxed);
            }
        } else if task_word::is_unrecorded(task.value) {
            // Tasks that a skipped task creates are skipped too.
        } else if task.value == 0 || task.value & ON_STACK != 0 {
            task.value = task_word::in_taskloop(task.value, site);
        }
    }
}

/// The site of the `taskloop` that creates a task, if `return_address` is where the runtime creates
/// the tasks of a `taskloop`.
#[inline]
pub(super) fn taskloop_site(encountering: u64, return_address: usize) -> Option<u32> {
    let [one, other] = &INSIDE;
    if return_address != one.load(Ordering::Relaxed)
        && return_address != other.load(Ordering::Relaxed)
        || return_address == 0
    {
        return None;
    }
    let site = if encountering & IMPLICIT != 0 {
        let member = (encountering & !IMPLICIT) as *const super::region::Member;
        // SAFETY: the member lives until its region is over, and the region waits for the task
        // being created.
        unsafe { (*member).taskloop.load(Ordering::Relaxed) }
    } else if task_word::is_unrecorded(encountering) {
        0
    } else {
        encountering as u32
    };
    (site != 0).then_some(site)
}
