//! Barriers, explicit ones and those at the ends of constructs. A thread's implicit task ends where
//! the barrier begins, and its next phase begins where the barrier ends. Explicit tasks that the
//! thread runs in between therefore lie on an empty stack. The barrier at the end of a region comes
//! after the outlined function ([`super::region`]).

use workspan_recorder::adapter::LiveHandle;

use super::entry_points::{Call, entries};
use super::next_symbol::Entry;
use super::task_frame::{self, ImplicitTask};

/// Forms of entries.
const ALWAYS: u8 = 0;
/// A barrier unless the first argument is true.
const UNLESS: u8 = 1;
/// A barrier whose result says whether the region was cancelled.
pub(super) const CANCEL: u8 = 2;

entries! { barriers, barrier:
    GOMP_barrier = ALWAYS,
    GOMP_barrier_cancel = CANCEL,
    GOMP_single_copy_end = ALWAYS,
    GOMP_workshare_task_reduction_unregister = UNLESS,
}

entries! { single_copies, single_copy: GOMP_single_copy_start = ALWAYS }

unsafe extern "C-unwind" fn barrier(call: &mut Call, entry: &Entry) -> usize {
    let is_barrier = entry.form != UNLESS || call.argument(0) as u8 == 0;
    // SAFETY: the arguments are the entry point's; only this call uses the handle.
    unsafe {
        match LiveHandle::current().filter(|_| is_barrier) {
            Some(h) => pass(h, call, entry),
            None => call.forward(entry.next_symbol()),
        }
    }
}

/// Calls the next symbol, which is a barrier of the team.
///
/// # Safety
/// `call` is a call of `entry`.
pub(super) unsafe fn pass(h: LiveHandle, call: &Call, entry: &Entry) -> usize {
    // SAFETY: the call is the entry's; the implicit task lies in a frame below this one on the same
    // thread.
    unsafe {
        let implicit = (*task_frame::current()).implicit;
        if implicit.is_null() || (*implicit).team == 0 {
            return call.forward(entry.next_symbol());
        }
        if !(*implicit).is_over {
            h.task_end();
        }
        let result = call.forward(entry.next_symbol());
        if entry.form == CANCEL && result as u8 != 0 {
            // Other threads may not have come here. This one goes straight to the region's end.
            (*implicit).is_over = true;
        } else {
            next_phase(h, &mut *implicit);
        }
        result
    }
}

fn next_phase(h: LiveHandle, implicit: &mut ImplicitTask) {
    implicit.phase += 1;
    implicit.is_over = false;
    h.member(implicit.team, implicit.phase, implicit.index, h.now());
}

/// Handles `single` with `copyprivate`. For the first thread this returns null, and the thread goes
/// on to the block. For the others it is a barrier, which they leave when the first thread comes to
/// `GOMP_single_copy_end`. Which thread is the first is known only afterwards.
unsafe extern "C-unwind" fn single_copy(call: &mut Call, entry: &Entry) -> usize {
    // SAFETY: the implicit task lies in a frame below this one on the same thread; only this call
    // uses the handle.
    unsafe {
        let implicit = (*task_frame::current()).implicit;
        let is_in_team = !implicit.is_null() && (*implicit).team != 0;
        let Some(h) = LiveHandle::current().filter(|_| is_in_team) else {
            return call.forward(entry.next_symbol());
        };
        (*implicit).arrived = h.now().max(1);
        let result = call.forward(entry.next_symbol());
        if result != 0 {
            settle(h, &mut *implicit);
            next_phase(h, &mut *implicit);
        }
        (*implicit).arrived = 0;
        result
    }
}

/// The call turned out to be a barrier: a task begins in it, or it has returned. The implicit task
/// ended when the thread arrived.
#[cold]
pub(super) fn settle(h: LiveHandle, implicit: &mut ImplicitTask) {
    if implicit.arrived == 0 {
        return;
    }
    h.task_end_at(implicit.arrived);
    implicit.arrived = 0;
}
