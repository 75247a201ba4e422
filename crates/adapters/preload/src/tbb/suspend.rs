//! `task::suspend` and `task::resume`: the task waits for a signal, and its whole stack leaves the
//! thread.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::Mutex;

use workspan_recorder::TABLE;
use workspan_recorder::adapter::{LiveHandle, Stop};
use workspan_recorder::wire::primitive;

use super::become_worker;
use super::budget::PausedSkip;
use super::call_site::{self, Call};
use super::next_symbol::{self, Callback};
use super::task_frame::{
    FrameKind, OTHER_WAIT, TaskFrame, current_thread, has_task, restore, set_top, stacks_move, top,
};

/// For each suspend point, by its address: the signal that its stack waits for.
static POINTS: Mutex<BTreeMap<usize, u64>> = Mutex::new(BTreeMap::new());

/// The data that libtbb passes to [`run_callback`].
struct SuspendRequest {
    callback: Callback,
    argument: *mut c_void,
    site: u32,
    frame: *mut TaskFrame,
    /// The signal that the task waits for, and where it stopped; `None` if nothing is recorded.
    waits: Option<(u64, Stop)>,
}

/// Runs the user's callback, which passes the suspend point to the code that will resume it. The
/// thread is already on another stack. Once the callback has the point, the suspended stack may run
/// elsewhere and its contents may be gone. So all data needed later are copied before.
///
/// The task waits from before the callback on. If the callback does something in the task's name,
/// it waits from the end of that. If it continues on another thread, that thread names the signal,
/// because the time of the wait may not be known there.
///
/// # Safety
/// libtbb calls this with a [`SuspendRequest`].
unsafe extern "C-unwind" fn run_callback(argument: *mut c_void, point: *mut c_void) {
    let request = argument.cast::<SuspendRequest>();
    let signal = (TABLE.signal_new)();
    if let Ok(mut points) = POINTS.lock() {
        points.insert(point as usize, signal);
    }
    // SAFETY: `suspend` below keeps the request until another thread has the point. The frame is
    // this thread's, and a bottom frame stays where it is. The handle is looked up again after the
    // callback.
    unsafe {
        let SuspendRequest {
            callback,
            argument,
            site,
            frame,
            ..
        } = ptr::read(request);
        let Some(h) = LiveHandle::current() else {
            callback(argument, point);
            restore(current_thread(), ptr::null_mut());
            return;
        };
        (*request).waits = Some((signal, h.stopped()));
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
        let (thread, now, before) = (h.thread(), h.now(), h.cursor());
        callback(argument, point);
        if let Some(h) = LiveHandle::current()
            && h.thread() == thread
        {
            let at = if h.cursor() == before { now } else { h.last() };
            h.wait_signal_at(site, signal, at);
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
/// The same as for oneTBB's function; the last two arguments locate the call.
pub(super) unsafe extern "C-unwind" fn suspend(
    callback: Callback,
    argument: *mut c_void,
    from: usize,
    sp: usize,
) {
    // SAFETY: the entry point passes the registers of its call.
    let next = next_symbol::SUSPEND.get(unsafe { call_site::returns_to(from, sp) });
    stacks_move();
    // SAFETY: used before the stack can move; after that the handle is looked up again.
    let h = unsafe { LiveHandle::current() };
    let Some(h) = h else {
        // SAFETY: the arguments of the call.
        return unsafe { next(callback, argument) };
    };
    // SAFETY: the arguments of the call; the state is that of the thread that runs, looked up again
    // after the stack may have moved.
    unsafe {
        let frame = top(current_thread());
        if !has_task(h, frame) {
            return next(callback, argument);
        }
        let _paused = PausedSkip::new(frame);
        let mut with = SuspendRequest {
            callback,
            argument,
            site: call_site::plain(Call::made(from, sp), primitive::SUSPEND),
            frame,
            waits: None,
        };
        next(run_callback, (&raw mut with).cast());
        // Resumed, possibly on another thread.
        let waits = ptr::read(&raw const with).waits;
        let thread = current_thread();
        set_top(thread, frame);
        (*frame).waits = ptr::null();
        if let Some((signal, stop)) = waits
            && let Some(h) = LiveHandle::current()
        {
            // This thread may have run only stacks that began elsewhere.
            if !(*thread).worker {
                become_worker(h, thread);
            }
            h.go_on_signalled(stop, signal);
        }
    }
}

/// `r1::resume(suspend point)`.
///
/// # Safety
/// The same as for [`suspend`].
pub(super) unsafe extern "C-unwind" fn resume(point: *mut c_void, from: usize, sp: usize) {
    let signal = POINTS
        .lock()
        .ok()
        .and_then(|mut points| points.remove(&(point as usize)));
    // SAFETY: the state is this thread's; this block alone uses the handle.
    unsafe {
        if let Some(signal) = signal
            && let Some(h) = LiveHandle::current()
            && has_task(h, top(current_thread()))
        {
            let _paused = PausedSkip::new(top(current_thread()));
            h.signal(
                call_site::plain(Call::made(from, sp), primitive::SUSPEND),
                signal,
            );
        }
        next_symbol::RESUME.get(call_site::returns_to(from, sp))(point);
    }
}
