//! Parallel regions: the master's team record, and the implicit tasks of all its threads, which are told by the function
//! that libgomp calls instead of the outlined one. A region's end barrier comes after that function, so a member's last
//! task ends there and the explicit tasks that run in the barrier lie on an empty stack.
//!
//! Regions combined with a loop or sections (`GOMP_parallel_loop_*`) have their chunks asked for by `..._next` in the
//! outlined function ([`super::worksharing`]). gcc up to 4.8 opened a region with `GOMP_parallel_start`, ran the outlined function
//! itself and closed it with `GOMP_parallel_end`; such binaries still run.

use core::ffi::c_int;

use workspan_recorder::adapter;
use workspan_recorder::front::Handle;
use workspan_recorder::wire::primitive;

use super::budget::Paused;
use super::entry_points::{Call, entries};
use super::next_symbol::{ANY_RUNTIME, ASK_ALWAYS, Entry};
use super::task_frame::{self, ImplicitTask, TaskFrame};
use super::{budget, next_symbol, pool, worksharing};
use crate::runtimes::Instance;
use crate::site_cache;

/// What libgomp's threads get instead of the outlined function's argument. It is the master's, which waits for them.
#[repr(C)]
pub(super) struct Region {
    /// The argument's own first word: `GOMP_parallel_reductions` looks for the reductions there.
    first: usize,
    function: usize,
    data: *mut u8,
    team: u64,
    runtime: *const Instance,
}

/// An outlined function.
pub(super) type Outlined = unsafe extern "C-unwind" fn(*mut u8);

pub(super) static THREAD_NUMBER: Entry = Entry::new(c"omp_get_thread_num", 0);
pub(super) static THREADS: Entry = Entry::new(c"omp_get_num_threads", 0);

/// Entry forms.
const PLAIN: u8 = 0;
const REDUCTIONS: u8 = 1;

entries! { regions, parallel, by_function ASK_ALWAYS | ANY_RUNTIME;
    GOMP_parallel = PLAIN,
    GOMP_parallel_loop_static = PLAIN,
    GOMP_parallel_loop_dynamic = PLAIN,
    GOMP_parallel_loop_guided = PLAIN,
    GOMP_parallel_loop_runtime = PLAIN,
    GOMP_parallel_loop_nonmonotonic_dynamic = PLAIN,
    GOMP_parallel_loop_nonmonotonic_guided = PLAIN,
    GOMP_parallel_loop_nonmonotonic_runtime = PLAIN,
    GOMP_parallel_loop_maybe_nonmonotonic_runtime = PLAIN,
    GOMP_parallel_sections = PLAIN,
    GOMP_parallel_reductions = REDUCTIONS,
}

entries! { starts, start, by_function ASK_ALWAYS | ANY_RUNTIME;
    GOMP_parallel_start = PLAIN,
    GOMP_parallel_loop_static_start = PLAIN,
    GOMP_parallel_loop_dynamic_start = PLAIN,
    GOMP_parallel_loop_guided_start = PLAIN,
    GOMP_parallel_loop_runtime_start = PLAIN,
    GOMP_parallel_sections_start = PLAIN,
}

entries! { ends, end: GOMP_parallel_end = PLAIN }

/// The calling thread's number in its team of this runtime's.
fn thread_number(runtime: *const Instance) -> u64 {
    // SAFETY: the function has no arguments.
    unsafe { number_from(THREAD_NUMBER.next_symbol_of(runtime)) }
}

/// Threads in the calling thread's team.
pub(super) fn threads() -> u64 {
    // SAFETY: as above.
    unsafe { number_from(THREADS.next_symbol()) }
}

unsafe fn number_from(function: usize) -> u64 {
    type Get = unsafe extern "C" fn() -> c_int;
    // SAFETY: the caller's: a function of this type.
    let get: Get = unsafe { core::mem::transmute(function) };
    // SAFETY: as above.
    u64::try_from(unsafe { get() }).unwrap_or(0)
}

/// Calls an outlined function.
///
/// # Safety
/// `function` is one, and `data` its argument.
#[inline]
pub(super) unsafe fn run(function: usize, data: *mut u8) {
    // SAFETY: the caller's.
    unsafe {
        let function: Outlined = core::mem::transmute(function);
        function(data);
    }
}

/// Tells of a region that is about to begin.
///
/// # Safety
/// `h` is the calling thread's live handle, the call one of an entry point for regions.
unsafe fn open(h: *mut Handle, call: &Call) -> Region {
    pool::note_runtime();
    let (function, data) = (call.argument(0), call.argument(1) as *mut u8);
    let site = site_cache::at(function, primitive::PARALLEL, false);
    // SAFETY: the caller's.
    let team = unsafe { adapter::team(h, site) };
    Region {
        first: 0,
        function,
        data,
        team,
        runtime: next_symbol::called(),
    }
}

unsafe extern "C-unwind" fn parallel(call: &mut Call, entry: &Entry) -> usize {
    let h = adapter::handle();
    // SAFETY: the entry point's caller gave the arguments its function takes; the handle is this thread's; libgomp's threads are
    // done with the region when the real function returns.
    unsafe {
        if h.is_null() {
            return call.forward(entry.next_symbol());
        }
        let paused = budget::pause(task_frame::current());
        let mut region = open(h, call);
        if entry.form == REDUCTIONS {
            region.first = *region.data.cast::<usize>();
        }
        call.set_argument(0, member as *const () as usize);
        call.set_argument(1, (&raw mut region) as usize);
        let result = call.forward(entry.next_symbol());
        adapter::resume(h);
        budget::go_on(paused);
        result
    }
}

/// What libgomp calls on every thread of the team.
unsafe extern "C-unwind" fn member(region: *mut Region) {
    // SAFETY: the master's region lives until all threads are through here; the handle is this thread's.
    unsafe {
        let Region {
            function,
            data,
            team,
            runtime,
            ..
        } = *region;
        let h = adapter::handle();
        if h.is_null() {
            return run(function, data);
        }
        let mut implicit = ImplicitTask::new(team, thread_number(runtime));
        begin(h, &implicit, runtime);
        let below = task_frame::current();
        let mut here = TaskFrame {
            runtime,
            ..implicit_frame(h, function, &raw mut implicit, below)
        };
        task_frame::set_current(&raw mut here);
        run(function, data);
        task_frame::set_current(below);
        finish(h, &mut implicit);
    }
}

fn implicit_frame(
    h: *mut Handle,
    function: usize,
    implicit: *mut ImplicitTask,
    below: *mut TaskFrame,
) -> TaskFrame {
    TaskFrame {
        implicit,
        in_team: true,
        ..TaskFrame::new(below, h, function)
    }
}

/// # Safety
/// `h` is the calling thread's live handle.
unsafe fn begin(h: *mut Handle, implicit: &ImplicitTask, runtime: *const Instance) {
    // SAFETY: the caller's.
    unsafe {
        pool::join(h, runtime);
        adapter::member(
            h,
            implicit.team,
            implicit.phase,
            implicit.index,
            Handle::now(h),
        );
    }
}

/// # Safety
/// `h` is the calling thread's live handle, its top task the share's.
unsafe fn finish(h: *mut Handle, implicit: &mut ImplicitTask) {
    // SAFETY: the caller's.
    unsafe {
        if !implicit.is_over {
            worksharing::close(h, implicit);
            adapter::task_end(h);
        }
    }
}

/// A region in two calls, and the master's part in it.
#[repr(C)]
struct Open {
    here: TaskFrame,
    implicit: ImplicitTask,
    region: Region,
    paused: Paused,
}

unsafe extern "C-unwind" fn start(call: &mut Call, entry: &Entry) -> usize {
    let h = adapter::handle();
    // SAFETY: as in `parallel`; the box is given up in `end`, when libgomp's threads are done with it.
    unsafe {
        if h.is_null() {
            return call.forward(entry.next_symbol());
        }
        let paused = budget::pause(task_frame::current());
        let region = open(h, call);
        let implicit = ImplicitTask::new(region.team, 0);
        let here = TaskFrame {
            runtime: region.runtime,
            ..implicit_frame(
                h,
                region.function,
                core::ptr::null_mut(),
                task_frame::current(),
            )
        };
        let open = Box::into_raw(Box::new(Open {
            here,
            implicit,
            region,
            paused,
        }));
        (*open).here.implicit = &raw mut (*open).implicit;
        (*open).here.is_open = true;
        call.set_argument(0, member as *const () as usize);
        call.set_argument(1, (&raw mut (*open).region) as usize);
        let result = call.forward(entry.next_symbol());
        begin(h, &(*open).implicit, (*open).region.runtime);
        task_frame::set_current(&raw mut (*open).here);
        result
    }
}

unsafe extern "C-unwind" fn end(call: &mut Call, entry: &Entry) -> usize {
    let here = task_frame::current();
    // SAFETY: an open frame is the first field of a box made in `start`, on this thread; nobody else ends it.
    unsafe {
        if !(*here).is_open {
            return call.forward(entry.next_symbol());
        }
        let mut open = Box::from_raw(here.cast::<Open>());
        task_frame::set_current(open.here.below);
        let h = adapter::handle();
        if !h.is_null() {
            finish(h, &mut open.implicit);
        }
        let result = call.forward(entry.next_symbol());
        if !h.is_null() {
            adapter::resume(h);
            budget::go_on(open.paused);
        }
        result
    }
}
