//! `task::suspend` and `task::resume`: the task waits for a signal, and its whole stack leaves the thread.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::Mutex;

use workspan_recorder::wire::primitive;
use workspan_recorder::{TABLE, adapter};

use super::calls::{self, Call};
use super::frame::{Frame, FrameKind, go_on, has_task, here, restore, set_top, top};
use super::real::{self, Callback};

/// The signal that the stack of a suspend point waits for, by the point's address.
static POINTS: Mutex<BTreeMap<usize, u64>> = Mutex::new(BTreeMap::new());

/// What a suspended task's callback is called with.
struct Asked {
    callback: Callback,
    argument: *mut c_void,
    site: u32,
    frame: *mut Frame,
    /// The frame's task was told to wait.
    told: bool,
}

/// Runs the user's callback, which hands the point to whoever is to resume it; after that the task waits. The stack is
/// not given away before this has returned.
///
/// # Safety
/// Called by libtbb with an [`Asked`].
unsafe extern "C-unwind" fn asked(argument: *mut c_void, point: *mut c_void) {
    let asked = argument.cast::<Asked>();
    let signal = (TABLE.signal_new)();
    if let Ok(mut points) = POINTS.lock() {
        points.insert(point as usize, signal);
    }
    // SAFETY: `suspend` below keeps it until it returns, which it does not before the task is resumed.
    unsafe {
        ((*asked).callback)((*asked).argument, point);
        let h = adapter::handle();
        if h.is_null() {
            return;
        }
        let mut frame = (*asked).frame;
        (*asked).told = true;
        adapter::wait_signal(h, (*asked).site, signal);
        // Those below wait already, or are interrupted, and move with the stack. A thread's own root stays: its stack
        // comes back to it.
        while !frame.is_null() && (*frame).kind == FrameKind::Task && (*frame).stop == 0 {
            (*frame).stop = adapter::leave(h, (*asked).site);
            frame = (*frame).parent;
        }
        restore(here(), ptr::null_mut());
    }
}

/// `r1::suspend(callback, argument)`.
///
/// # Safety
/// As oneTBB's; the last two say where the call was made.
pub(super) unsafe extern "C-unwind" fn suspend(
    callback: Callback,
    argument: *mut c_void,
    ret: usize,
    sp: usize,
) {
    let real = real::SUSPEND.get();
    let h = adapter::handle();
    if h.is_null() {
        // SAFETY: the caller's.
        return unsafe { real(callback, argument) };
    }
    // SAFETY: the caller's; handle and state are this thread's.
    unsafe {
        let frame = top(here());
        if !has_task(h, frame) {
            return real(callback, argument);
        }
        let mut with = Asked {
            callback,
            argument,
            site: calls::plain(Call { ret, sp }, primitive::SUSPEND),
            frame,
            told: false,
        };
        real(asked, (&raw mut with).cast());
        // Resumed, maybe on another thread.
        set_top(here(), frame);
        let h = adapter::handle();
        if !h.is_null() {
            go_on(h, frame, with.told, false);
        }
    }
}

/// `r1::resume(suspend point)`.
///
/// # Safety
/// As [`suspend`].
pub(super) unsafe extern "C-unwind" fn resume(point: *mut c_void, ret: usize, sp: usize) {
    let signal = POINTS
        .lock()
        .ok()
        .and_then(|mut points| points.remove(&(point as usize)));
    let h = adapter::handle();
    // SAFETY: the caller's; handle and state are this thread's.
    unsafe {
        if let Some(signal) = signal
            && !h.is_null()
            && has_task(h, top(here()))
        {
            adapter::signal(
                h,
                calls::plain(Call { ret, sp }, primitive::SUSPEND),
                signal,
            );
        }
        real::RESUME.get()(point);
    }
}
