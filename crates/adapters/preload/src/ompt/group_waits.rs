//! The callback for waits inside of regions. Only task groups need it, and a runtime that was given it calls it twice in every `taskwait`: so it is
//! given when the first group is opened, in time for the end of that group's body.

use core::ffi::c_void;
use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::Mutex;

use super::ffi::{SetCallback, event};
use super::sync;

/// All runtimes have it, those to come too.
static ASKED: AtomicBool = AtomicBool::new(false);
static STATE: Mutex<State> = Mutex::new(State {
    are_wanted: false,
    runtimes: Vec::new(),
});

struct State {
    are_wanted: bool,
    /// Those that were not asked yet.
    runtimes: Vec<SetCallback>,
}

/// A runtime takes callbacks by that function.
pub(super) fn tell(set: SetCallback) {
    let Ok(mut state) = STATE.lock() else { return };
    if state.are_wanted {
        ask(set);
    } else {
        state.runtimes.push(set);
    }
}

/// A task group is opened.
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
    // SAFETY: the runtime's function, which it offers for all of its life; the callback is of this event's type.
    unsafe {
        set(
            event::SYNC_REGION_WAIT,
            sync::sync_region_wait as *const c_void,
        )
    };
}
