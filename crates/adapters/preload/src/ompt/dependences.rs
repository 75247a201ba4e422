//! Dependences of explicit tasks, and of waits.

use core::ffi::c_int;

use workspan_recorder::wire::dependence;

use super::ffi::{self, Data, Dependence};
use super::task_word::{self, IMPLICIT, LEFT, ON_STACK};
use super::thread_state;

/// The largest number of a task's dependences that are passed on without an allocation.
const MAX_ON_STACK: usize = 16;

/// `ompt_callback_dependences_t`.
pub(super) extern "C" fn dependences(task: *mut Data, list: *const Dependence, count: c_int) {
    let Some(thread) = thread_state::current() else {
        return;
    };
    let (Ok(count), false) = (usize::try_from(count), list.is_null()) else {
        return;
    };
    // SAFETY: the runtime passes that many, and they are valid during the call.
    let clauses = unsafe { core::slice::from_raw_parts(list, count) };
    let mut few = [(0, 0); MAX_ON_STACK];
    let mut many = Vec::new();
    let mut length = 0;
    for (kind, address) in clauses.iter().filter_map(clause) {
        if length < MAX_ON_STACK {
            few[length] = (kind, address);
        } else {
            if many.is_empty() {
                many.extend_from_slice(&few);
            }
            many.push((kind, address));
        }
        length += 1;
    }
    let on = if many.is_empty() {
        &few[..length]
    } else {
        &many[..]
    };
    // SAFETY: null, or a task of the runtime that is valid during the call.
    unsafe {
        let word = task.as_ref().map_or(0, |task| task.value);
        if word == 0 {
            match thread.left_out.subtree() {
                Some(subtree) => subtree.begin_wait(),
                None => thread.h.wait_dependences(thread.dependence_wait, on),
            }
        } else if word & (IMPLICIT | ON_STACK | LEFT) == 0
            && !task_word::is_unrecorded(word)
            && !on.is_empty()
        {
            let h = thread.h;
            let depends = || h.depends(task_word::unpack(word), on);
            thread.left_out.paused(depends);
        }
    }
}

/// The kind and address in the trace for a `depend` clause. Those of `ordered` (doacross) are not
/// between tasks.
fn clause(dependence: &Dependence) -> Option<(u64, u64)> {
    let kind = match dependence.kind {
        ffi::dependence::IN => dependence::IN,
        ffi::dependence::OUT | ffi::dependence::INOUT => dependence::OUT,
        ffi::dependence::MUTEXINOUTSET => dependence::MUTEX,
        ffi::dependence::INOUTSET => dependence::INOUT_SET,
        ffi::dependence::OUT_ALL_MEMORY | ffi::dependence::INOUT_ALL_MEMORY => {
            return Some((dependence::ALL, 0));
        }
        _ => return None,
    };
    Some((kind, dependence.variable))
}
