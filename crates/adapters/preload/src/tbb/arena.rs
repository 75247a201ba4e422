//! `task_arena::execute`: the current task goes on in the arena. It does so on this thread if the
//! arena has a place for it, otherwise on another thread while this one blocks.

use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};

use workspan_recorder::adapter::{LiveHandle, Stop};
use workspan_recorder::wire::primitive;

use super::budget::{self, PausedSkip};
use super::call_site::{self, Call};
use super::task_frame::{
    FrameKind, SuspendedBottom, TaskFrame, current_thread, has_task, link, restore, set_top, top,
};
use super::{become_worker, next_symbol};

/// oneTBB's `delegate_base`: the function to run in the arena.
#[repr(C)]
pub(super) struct Delegate {
    table: *const usize,
}

/// Our delegate around the user's.
#[repr(C)]
struct CarriedDelegate {
    base: Delegate,
    users: *mut Delegate,
    /// The caller's frame.
    frame: *mut TaskFrame,
    /// Where the task stopped: first on the caller's thread, then where the delegate ended.
    stop: Stop,
    site: u32,
}

type Operator = unsafe extern "C-unwind" fn(*mut Delegate) -> bool;

#[repr(C)]
struct Table([AtomicUsize; 5]);

/// Offset to top, no type information, `operator()`, and two destructors that are never called.
static TABLE: Table = Table([const { AtomicUsize::new(0) }; 5]);

fn table() -> *const usize {
    let words = &TABLE.0;
    words[2].store(carried as *const () as usize, Ordering::Relaxed);
    for destructor in &words[3..] {
        destructor.store(nothing as *const () as usize, Ordering::Relaxed);
    }
    words[2].as_ptr()
}

extern "C" fn nothing(_: *mut Delegate) {}

/// Restores the thread when the delegate has returned or thrown.
struct DelegateGuard {
    carried: *mut CarriedDelegate,
    before: *mut TaskFrame,
    guest: Option<SuspendedBottom>,
}

impl Drop for DelegateGuard {
    fn drop(&mut self) {
        // SAFETY: only this callback uses the handle.
        let h = unsafe { LiveHandle::current() };
        // SAFETY: the caller of `execute` blocks until the delegate has ended; the state is this
        // thread's.
        unsafe {
            let thread = current_thread();
            restore(thread, self.before);
            if let Some(guest) = self.guest.take() {
                guest.leave(thread);
            }
            let Some(h) = h else {
                return;
            };
            h.yield_task((*self.carried).site);
            (*self.carried).stop = h.stopped();
        }
    }
}

/// # Safety
/// libtbb calls this as the delegate's `operator()`.
unsafe extern "C-unwind" fn carried(delegate: *mut Delegate) -> bool {
    let carried = delegate.cast::<CarriedDelegate>();
    // SAFETY: only this callback uses the handle.
    let h = unsafe { LiveHandle::current() };
    // SAFETY: the delegate is a [`CarriedDelegate`], whose owner blocks until this has returned.
    unsafe {
        let users = (*carried).users;
        let body = std::mem::transmute::<usize, Operator>(*(*users).table);
        let Some(h) = h else {
            return body(users);
        };
        let thread = current_thread();
        let before = link(thread);
        if !(*thread).worker {
            become_worker(h, thread);
        }
        budget::suspend(thread);
        h.go_on((*carried).stop, false);
        set_top(thread, (*carried).frame);
        let arrived = DelegateGuard {
            carried,
            before,
            guest: SuspendedBottom::enter(thread, (*carried).frame),
        };
        let result = body(users);
        drop(arrived);
        result
    }
}

/// Lets the caller's task go on when `execute` has returned or thrown.
struct CallerGuard<'a> {
    carried: &'a mut CarriedDelegate,
}

impl Drop for CallerGuard<'_> {
    fn drop(&mut self) {
        // SAFETY: only this callback uses the handle.
        let h = unsafe { LiveHandle::current() };
        // SAFETY: the frame encloses the call; the state is this thread's.
        unsafe {
            set_top(current_thread(), self.carried.frame);
            if let Some(h) = h {
                h.go_on(self.carried.stop, false);
            }
        }
    }
}

/// `r1::execute(arena, delegate)`.
///
/// # Safety
/// The same as for oneTBB's function; the last two arguments locate the call.
pub(super) unsafe extern "C-unwind" fn execute(
    arena: *mut c_void,
    delegate: *mut Delegate,
    from: usize,
    sp: usize,
) {
    // SAFETY: the entry point passes the registers of its call.
    let next = next_symbol::EXECUTE.get(unsafe { call_site::returns_to(from, sp) });
    // SAFETY: only this callback uses the handle.
    let h = unsafe { LiveHandle::current() };
    let Some(h) = h else {
        // SAFETY: the arguments of the call.
        return unsafe { next(arena, delegate) };
    };
    // SAFETY: the arguments of the call; the state is this thread's.
    unsafe {
        let thread = current_thread();
        let frame = top(thread);
        if !has_task(h, frame) {
            return next(arena, delegate);
        }
        if !(*thread).worker {
            become_worker(h, thread);
        }
        let _paused = PausedSkip::new(frame);
        let site = call_site::plain(Call::made(from, sp), primitive::EXECUTE);
        h.yield_task(site);
        let mut away = TaskFrame {
            kind: FrameKind::Away,
            parent: frame,
            ..TaskFrame::BOTTOM
        };
        let mut carried = CarriedDelegate {
            base: Delegate { table: table() },
            users: delegate,
            frame,
            stop: h.stopped(),
            site,
        };
        set_top(thread, &raw mut away);
        let ours = (&raw mut carried).cast::<Delegate>();
        let back = CallerGuard {
            carried: &mut carried,
        };
        next(arena, ours);
        drop(back);
    }
}
