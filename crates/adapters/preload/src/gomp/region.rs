//! Parallel regions: the master's team record, and the implicit tasks of all threads. libgomp calls
//! a function of ours instead of the outlined one, and that function records the implicit task. A
//! region's end barrier comes after it. So a member's last task ends there, and explicit tasks that
//! run in the barrier lie on an empty stack.
//!
//! In regions combined with a loop or sections (`GOMP_parallel_loop_*`), the outlined function asks
//! for chunks by `..._next` ([`super::worksharing`]). gcc up to 4.8 opened a region with
//! `GOMP_parallel_start`, ran the outlined function itself and closed it with `GOMP_parallel_end`.
//! Such binaries still run.

use core::ffi::c_int;

use workspan_recorder::adapter::LiveHandle;
use workspan_recorder::wire::primitive;

use super::budget::PausedSkip;
use super::entry_points::{Call, entries};
use super::next_symbol::{ANY_RUNTIME, ASK_ALWAYS, Entry};
use super::task_frame::{self, ImplicitTask, TaskFrame};
use super::{budget, next_symbol, pool, worksharing};
use crate::runtimes::Instance;
use crate::site_cache;

/// The argument that libgomp's threads get instead of the outlined function's. It is on the stack
/// of the master, which waits for them.
#[repr(C)]
pub(super) struct Region {
    /// The first word of the argument: `GOMP_parallel_reductions` looks for the reductions there.
    first: usize,
    function: usize,
    data: *mut u8,
    team: u64,
    runtime: *const Instance,
}

/// An outlined function.
pub(super) type OutlinedFunction = unsafe extern "C-unwind" fn(*mut u8);

pub(super) static THREAD_NUMBER: Entry = Entry::new(c"omp_get_thread_num", 0);
pub(super) static THREADS: Entry = Entry::new(c"omp_get_num_threads", 0);

/// Forms of entries.
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

/// The calling thread's number in its team, in this runtime.
fn thread_number(runtime: *const Instance) -> u64 {
    // SAFETY: the function has no arguments.
    unsafe { number_from(THREAD_NUMBER.next_symbol_of(runtime)) }
}

/// The number of threads in the calling thread's team.
pub(super) fn threads() -> u64 {
    // SAFETY: the function has no arguments.
    unsafe { number_from(THREADS.next_symbol()) }
}

unsafe fn number_from(function: usize) -> u64 {
    type Get = unsafe extern "C" fn() -> c_int;
    // SAFETY: the caller passes a function of this type.
    let get: Get = unsafe { core::mem::transmute(function) };
    // SAFETY: it has no arguments and no preconditions.
    u64::try_from(unsafe { get() }).unwrap_or(0)
}

/// Calls an outlined function.
///
/// # Safety
/// `function` is an outlined function, and `data` its argument.
#[inline]
pub(super) unsafe fn run(function: usize, data: *mut u8) {
    // SAFETY: the caller passes an outlined function and its argument.
    unsafe {
        let function: OutlinedFunction = core::mem::transmute(function);
        function(data);
    }
}

/// Records a region that is about to begin.
fn open(h: LiveHandle, call: &Call) -> Region {
    pool::note_runtime();
    let (function, data) = (call.argument(0), call.argument(1) as *mut u8);
    let site = site_cache::at(function, primitive::PARALLEL, false);
    let team = h.team(site);
    Region {
        first: 0,
        function,
        data,
        team,
        runtime: next_symbol::called(),
    }
}

unsafe extern "C-unwind" fn parallel(call: &mut Call, entry: &Entry) -> usize {
    // SAFETY: only this callback uses the handle.
    let h = unsafe { LiveHandle::current() };
    // SAFETY: the program passed the arguments of its function. libgomp's threads have finished
    // with the region when the next symbol returns.
    unsafe {
        let Some(h) = h else {
            return call.forward(entry.next_symbol());
        };
        let paused = budget::pause(task_frame::current());
        let mut region = open(h, call);
        if entry.form == REDUCTIONS {
            region.first = *region.data.cast::<usize>();
        }
        call.set_argument(0, member as *const () as usize);
        call.set_argument(1, (&raw mut region) as usize);
        let result = call.forward(entry.next_symbol());
        h.resume();
        budget::go_on(paused);
        result
    }
}

/// The function that libgomp calls on every thread of the team.
unsafe extern "C-unwind" fn member(region: *mut Region) {
    // SAFETY: the master's region lives until all threads have left this function. Only this call
    // uses the handle: libgomp's tasks never change threads.
    unsafe {
        let Region {
            function,
            data,
            team,
            runtime,
            ..
        } = *region;
        let h = LiveHandle::current();
        let Some(h) = h else {
            return run(function, data);
        };
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
    h: LiveHandle,
    function: usize,
    implicit: *mut ImplicitTask,
    below: *mut TaskFrame,
) -> TaskFrame {
    TaskFrame {
        implicit,
        in_team: true,
        ..TaskFrame::new(below, Some(h), function)
    }
}

fn begin(h: LiveHandle, implicit: &ImplicitTask, runtime: *const Instance) {
    pool::join(h, runtime);
    h.member(implicit.team, implicit.phase, implicit.index, h.now());
}

fn finish(h: LiveHandle, implicit: &mut ImplicitTask) {
    if !implicit.is_over {
        worksharing::close(h, implicit);
        h.task_end();
    }
}

/// A region that is opened and closed by two calls, and the master's part in it.
#[repr(C)]
struct OpenRegion {
    here: TaskFrame,
    implicit: ImplicitTask,
    region: Region,
    paused: PausedSkip,
}

unsafe extern "C-unwind" fn start(call: &mut Call, entry: &Entry) -> usize {
    // SAFETY: only this callback uses the handle.
    let h = unsafe { LiveHandle::current() };
    // SAFETY: as in `parallel`. `end` frees the box, when libgomp's threads have finished with it.
    unsafe {
        let Some(h) = h else {
            return call.forward(entry.next_symbol());
        };
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
        let open = Box::into_raw(Box::new(OpenRegion {
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
    // SAFETY: an open frame is the first field of a box that `start` made on this thread, and only
    // this function frees it.
    unsafe {
        if !(*here).is_open {
            return call.forward(entry.next_symbol());
        }
        let mut open = Box::from_raw(here.cast::<OpenRegion>());
        task_frame::set_current(open.here.below);
        let h = LiveHandle::current();
        if let Some(h) = h {
            finish(h, &mut open.implicit);
        }
        let result = call.forward(entry.next_symbol());
        if let Some(h) = h {
            h.resume();
            budget::go_on(open.paused);
        }
        result
    }
}
