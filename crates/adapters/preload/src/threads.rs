//! Plain threads as tasks: interposes `pthread_create` and `pthread_join`.
//!
//! A thread that the program starts is a detached task of the task that started it, and joining it
//! is a wait for that task (MODEL.md §1). So the critical path goes through the program's own
//! threads. C++'s and Rust's threads are covered too: their libraries call these functions.
//!
//! The threads that a runtime starts are its workers, and not tasks. OpenMP's and oneTBB's are
//! recognised by the library that starts them; Rayon's stand-in announces its own
//! ([`adapter::is_starting_workers`]).

mod call_stack;
mod joins;
mod start;

use core::ffi::{c_int, c_void};

use workspan_recorder::abi::id;
use workspan_recorder::adapter::{self, KeepErrno, LiveHandle};
use workspan_recorder::wire::{create, primitive};

use crate::libc_symbol::LibcSymbol;
use call_stack::CallStack;
use start::Start;

/// `void *(*)(void *)`
type Routine = *mut c_void;
type Create = unsafe extern "C-unwind" fn(*mut usize, *const c_void, Routine, *mut c_void) -> c_int;
type SetName = unsafe extern "C-unwind" fn(usize, *const core::ffi::c_char) -> c_int;
type Join = unsafe extern "C-unwind" fn(usize, *mut *mut c_void) -> c_int;

/// The result of `pthread_create` if there is no such function to call.
const EAGAIN: c_int = 11;
/// The result of `pthread_join` if there is no such function to call.
const ESRCH: c_int = 3;

// SAFETY: this is the function's type.
static NEXT_CREATE: LibcSymbol<Create> = unsafe { LibcSymbol::new(c"pthread_create") };
// SAFETY: this is the function's type.
static NEXT_JOIN: LibcSymbol<Join> = unsafe { LibcSymbol::new(c"pthread_join") };
// SAFETY: this is the function's type.
static NEXT_SET_NAME: LibcSymbol<SetName> = unsafe { LibcSymbol::new(c"pthread_setname_np") };

unsafe extern "C" {
    fn pthread_self() -> usize;
}

/// Looks up the C library's functions at the start.
pub(crate) fn look() {
    NEXT_CREATE.get();
    NEXT_JOIN.get();
    NEXT_SET_NAME.get();
}

/// `int pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *)`
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_create(
    thread: *mut usize,
    attributes: *const c_void,
    routine: Routine,
    argument: *mut c_void,
) -> c_int {
    let Some(next) = NEXT_CREATE.get() else {
        return EAGAIN;
    };
    // SAFETY: the caller's arguments; those of a thread that is to be a task are read only by
    // `start::thread_start`, which frees them.
    unsafe {
        let Some(task) = create_task() else {
            let result = next(thread, attributes, routine, argument);
            if result == 0 {
                joins::forget(thread);
            }
            return result;
        };
        let start = Start::new(routine, argument, task);
        let result = next(
            thread,
            attributes,
            start::thread_start as Routine,
            start.cast(),
        );
        match result {
            0 => joins::remember(thread, task),
            _ => Start::free(start),
        }
        result
    }
}

/// The current task of the calling thread creates one for the thread that it is about to start.
/// `None` for a runtime's worker, and if nothing is recorded.
fn create_task() -> Option<u64> {
    // SAFETY: the handle is used only in this call, on its own thread.
    let h = unsafe { LiveHandle::current() }?;
    if adapter::is_starting_workers() || adapter::has_thread_sanitizer() {
        return None;
    }
    let _errno = KeepErrno::new();
    let calls = CallStack::capture();
    if calls.is_in_runtime() {
        return None;
    }
    let site = adapter::site_calls(calls.addresses(), "", primitive::THREAD);
    let task = h.task_create(create::DETACHED, site, 0);
    id::split(task).is_some().then_some(task)
}

/// `int pthread_join(pthread_t, void **)`
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_join(thread: usize, result: *mut *mut c_void) -> c_int {
    let Some(next) = NEXT_JOIN.get() else {
        return ESRCH;
    };
    let wait = joins::take(thread).and_then(Wait::begin);
    // SAFETY: the caller's arguments. The thread may be cancelled in this call: no value of this
    // frame needs to be dropped.
    let joined = unsafe { next(thread, result) };
    if let Some(wait) = wait {
        wait.end(joined == 0);
    }
    joined
}

/// `int pthread_setname_np(pthread_t, const char *)`: a name that the calling thread gives itself
/// is noted at once. Other names are noted when their threads end.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_setname_np(
    thread: usize,
    name: *const core::ffi::c_char,
) -> c_int {
    let Some(next) = NEXT_SET_NAME.get() else {
        return ESRCH;
    };
    // SAFETY: the arguments are the caller's.
    let result = unsafe { next(thread, name) };
    // SAFETY: no preconditions.
    if result == 0 && thread == unsafe { pthread_self() } {
        adapter::note_thread_name();
    }
    result
}

/// A thread that waits for another one's end.
#[derive(Clone, Copy)]
struct Wait {
    h: LiveHandle,
    task: u64,
    site: u32,
    /// Whether it waits as a worker of a pool. It is then not free for the pool's tasks meanwhile,
    /// so its strand goes on, and the time counts as off the CPU.
    is_worker: bool,
}

impl Wait {
    fn begin(task: u64) -> Option<Wait> {
        // SAFETY: the handle is used until the join returns, on this thread.
        let h = unsafe { LiveHandle::current() }?;
        let _errno = KeepErrno::new();
        let calls = CallStack::capture();
        let site = adapter::site_calls(calls.addresses(), "", primitive::THREAD);
        let wait = Wait {
            h,
            task,
            site,
            is_worker: h.is_worker(),
        };
        if !wait.is_worker {
            h.wait_task(site, task);
        }
        Some(wait)
    }

    fn end(self, has_joined: bool) {
        if self.is_worker && has_joined {
            self.h.wait_task(self.site, self.task);
            self.h.resume_at(self.h.last());
        } else if !self.is_worker {
            self.h.resume();
        }
    }
}
