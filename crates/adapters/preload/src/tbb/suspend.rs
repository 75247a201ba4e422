//! `task::suspend` and `task::resume`: the task waits for a signal, and its whole stack leaves the thread.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::Mutex;

use workspan_recorder::TABLE;
use workspan_recorder::adapter::{self, Stop};
use workspan_recorder::front::Handle;
use workspan_recorder::wire::primitive;

use super::become_worker;
use super::budget::Paused;
use super::call_site::{self, Call};
use super::next_symbol::{self, Callback};
use super::task_frame::{
    FrameKind, OTHER_WAIT, TaskFrame, current_thread, has_task, restore, set_top, stacks_move, top,
};

/// The signal that the stack of a suspend point waits for, by the point's address.
static POINTS: Mutex<BTreeMap<usize, u64>> = Mutex::new(BTreeMap::new());

/// What a suspended task's callback is called with.
struct SuspendRequest {
    callback: Callback,
    argument: *mut c_void,
    site: u32,
    frame: *mut TaskFrame,
    /// What its task waits for, and its place on the stack of the thread that tells of the wait; none when nobody records.
    waits: Option<(u64, Stop)>,
}

/// Runs the user's callback, which hands the point to whoever is to resume it. The thread is on another stack already, and once
/// the callback has the point, the suspended one may be on its way and what lies on it gone: all that is needed afterwards
/// is taken off it before. The task waits from before the callback on, or, where the callback does something in its name,
/// from the last of that: on another thread its going on names the signal, as the time of the wait may not be known by then.
///
/// # Safety
/// Called by libtbb with an [`SuspendRequest`].
unsafe extern "C-unwind" fn run_callback(argument: *mut c_void, point: *mut c_void) {
    let run_callback = argument.cast::<SuspendRequest>();
    let signal = (TABLE.signal_new)();
    if let Ok(mut points) = POINTS.lock() {
        points.insert(point as usize, signal);
    }
    // SAFETY: `suspend` below keeps what it asks with until somebody has the point; frame and handle are this thread's, and
    // a bottom frame stays so.
    unsafe {
        let SuspendRequest {
            callback,
            argument,
            site,
            frame,
            ..
        } = ptr::read(run_callback);
        let h = adapter::handle();
        if h.is_null() {
            callback(argument, point);
            restore(current_thread(), ptr::null_mut());
            return;
        }
        (*run_callback).waits = Some((signal, adapter::stopped(h)));
        let bottom = (*frame).kind == FrameKind::Bottom;
        let mut as_if = TaskFrame {
            parent: ptr::null_mut(),
            waits: ptr::null(),
            ..ptr::read(frame)
        };
        set_top(
            current_thread(),
            if bottom { frame } else { &raw mut as_if },
        );
        let (thread, now, before) = ((*h).thread, Handle::now(h), (*h).cursor);
        callback(argument, point);
        let h = adapter::handle();
        if !h.is_null() && (*h).thread == thread {
            let at = if (*h).cursor == before {
                now
            } else {
                (*h).last
            };
            adapter::wait_signal_at(h, site, signal, at);
        }
        if bottom {
            (*frame).waits = &raw const OTHER_WAIT;
        }
        restore(current_thread(), ptr::null_mut());
    }
}

/// `r1::suspend(callback, argument)`.
///
/// # Safety
/// As oneTBB's; the last two say where the call was made.
pub(super) unsafe extern "C-unwind" fn suspend(
    callback: Callback,
    argument: *mut c_void,
    from: usize,
    sp: usize,
) {
    // SAFETY: the entry point hands on what its call has.
    let next = next_symbol::SUSPEND.get(unsafe { call_site::returns_to(from, sp) });
    stacks_move();
    let h = adapter::handle();
    if h.is_null() {
        // SAFETY: the caller's.
        return unsafe { next(callback, argument) };
    }
    // SAFETY: the caller's; handle and state are this thread's.
    unsafe {
        let frame = top(current_thread());
        if !has_task(h, frame) {
            return next(callback, argument);
        }
        let _paused = Paused::new(frame);
        let mut with = SuspendRequest {
            callback,
            argument,
            site: call_site::plain(Call::made(from, sp), primitive::SUSPEND),
            frame,
            waits: None,
        };
        next(run_callback, (&raw mut with).cast());
        // Resumed, maybe on another thread.
        let waits = ptr::read(&raw const with).waits;
        let thread = current_thread();
        set_top(thread, frame);
        (*frame).waits = ptr::null();
        let h = adapter::handle();
        if let Some((signal, stop)) = waits
            && !h.is_null()
        {
            // It may have nothing but stacks that others began on.
            if !(*thread).worker {
                become_worker(h, thread);
            }
            adapter::go_on_signalled(h, stop, signal);
        }
    }
}

/// `r1::resume(suspend point)`.
///
/// # Safety
/// As [`suspend`].
pub(super) unsafe extern "C-unwind" fn resume(point: *mut c_void, from: usize, sp: usize) {
    let signal = POINTS
        .lock()
        .ok()
        .and_then(|mut points| points.remove(&(point as usize)));
    let h = adapter::handle();
    // SAFETY: the caller's; handle and state are this thread's.
    unsafe {
        if let Some(signal) = signal
            && !h.is_null()
            && has_task(h, top(current_thread()))
        {
            let _paused = Paused::new(top(current_thread()));
            adapter::signal(
                h,
                call_site::plain(Call::made(from, sp), primitive::SUSPEND),
                signal,
            );
        }
        next_symbol::RESUME.get(call_site::returns_to(from, sp))(point);
    }
}
