//! Requests the callback for waits inside of regions when it is first needed. Only task groups need
//! it, and a runtime that has it calls it twice in every `taskwait`. So it is requested when the
//! first group opens, in time for the end of that group's body.

use core::ffi::c_void;
use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::Mutex;

use super::ffi::{SetCallback, event};
use super::sync;

/// Whether all runtimes have the callback, and later ones get it at their start.
static ASKED: AtomicBool = AtomicBool::new(false);
static STATE: Mutex<State> = Mutex::new(State {
    are_wanted: false,
    runtimes: Vec::new(),
});

struct State {
    are_wanted: bool,
    /// The runtimes that do not have it yet.
    runtimes: Vec<SetCallback>,
}

/// A runtime has started; `set` is its function that takes callbacks.
pub(super) fn tell(set: SetCallback) {
    let Ok(mut state) = STATE.lock() else { return };
    if state.are_wanted {
        ask(set);
    } else {
        state.runtimes.push(set);
    }
}

/// A task group opens.
#[inline]
pub(super) fn want() {
    if !ASKED.load(Ordering::Acquire) {
        want_first();
    }
}

#[cold]
fn want_first() {
    let Ok(mut state) = STATE.lock() else { return };
    state.are_wanted = true;
    for set in core::mem::take(&mut state.runtimes) {
        ask(set);
    }
    ASKED.store(true, Ordering::Release);
}

fn ask(set: SetCallback) {
    // SAFETY: the runtime provides the function for its whole life; the callback has this event's
    // type.
    unsafe {
        set(
            event::SYNC_REGION_WAIT,
            sync::sync_region_wait as *const c_void,
        )
    };
}
