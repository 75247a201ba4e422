//! Barriers, explicit and at the ends of constructs: each thread's implicit task ends at the barrier's begin and that of the
//! next phase begins at its end, so that explicit tasks which run in between lie on an empty stack. The barrier at a region's
//! end comes after the outlined function ([`super::region`]).

use workspan_recorder::adapter;
use workspan_recorder::front::Handle;

use super::entry_points::{Call, entries};
use super::next_symbol::Entry;
use super::task_frame::{self, ImplicitTask};

/// Entry forms.
const ALWAYS: u8 = 0;
/// A barrier unless the argument is true.
const UNLESS: u8 = 1;
/// It says whether the region was cancelled.
pub(super) const CANCEL: u8 = 2;

entries! { barriers, barrier:
    GOMP_barrier = ALWAYS,
    GOMP_barrier_cancel = CANCEL,
    GOMP_single_copy_end = ALWAYS,
    GOMP_workshare_task_reduction_unregister = UNLESS,
}

entries! { single_copies, single_copy: GOMP_single_copy_start = ALWAYS }

unsafe extern "C-unwind" fn barrier(call: &mut Call, entry: &Entry) -> usize {
    let h = adapter::handle();
    // SAFETY: the arguments are the entry point's; the handle is this thread's.
    unsafe {
        if h.is_null() || entry.form == UNLESS && call.argument(0) as u8 != 0 {
            return call.forward(entry.next_symbol());
        }
        pass(h, call, entry)
    }
}

/// Calls the real function, which is a barrier for the team.
///
/// # Safety
/// `h` is the calling thread's live handle, the call one of the entry's.
pub(super) unsafe fn pass(h: *mut Handle, call: &Call, entry: &Entry) -> usize {
    // SAFETY: the caller's; a share lies in a frame below this one on the same thread.
    unsafe {
        let implicit = (*task_frame::current()).implicit;
        if implicit.is_null() || (*implicit).team == 0 {
            return call.forward(entry.next_symbol());
        }
        if !(*implicit).is_over {
            adapter::task_end(h);
        }
        let result = call.forward(entry.next_symbol());
        if entry.form == CANCEL && result as u8 != 0 {
            // Others may not have come here; the thread goes straight to the region's end.
            (*implicit).is_over = true;
        } else {
            next_phase(h, &mut *implicit);
        }
        result
    }
}

/// # Safety
/// `h` is the calling thread's live handle.
unsafe fn next_phase(h: *mut Handle, implicit: &mut ImplicitTask) {
    implicit.phase += 1;
    implicit.is_over = false;
    // SAFETY: the caller's.
    unsafe {
        adapter::member(
            h,
            implicit.team,
            implicit.phase,
            implicit.index,
            Handle::now(h),
        )
    };
}

/// `single` with `copyprivate`: the thread that is first gets null and goes on to the block; for the others this is a barrier,
/// which they leave when that thread comes to `GOMP_single_copy_end`. Who is who is known only afterwards.
unsafe extern "C-unwind" fn single_copy(call: &mut Call, entry: &Entry) -> usize {
    let h = adapter::handle();
    // SAFETY: as in `pass`.
    unsafe {
        let implicit = (*task_frame::current()).implicit;
        if h.is_null() || implicit.is_null() || (*implicit).team == 0 {
            return call.forward(entry.next_symbol());
        }
        (*implicit).arrived = Handle::now(h).max(1);
        let result = call.forward(entry.next_symbol());
        if result != 0 {
            settle(h, &mut *implicit);
            next_phase(h, &mut *implicit);
        }
        (*implicit).arrived = 0;
        result
    }
}

/// It is a barrier: a task begins in it, or it is over. The implicit task ended when it came there.
///
/// # Safety
/// `h` is the calling thread's live handle.
#[cold]
pub(super) unsafe fn settle(h: *mut Handle, implicit: &mut ImplicitTask) {
    if implicit.arrived == 0 {
        return;
    }
    // SAFETY: the caller's; nothing was recorded since.
    unsafe { adapter::task_end_at(h, implicit.arrived) };
    implicit.arrived = 0;
}
