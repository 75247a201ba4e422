//! The part of OMPT's C interface that is used (OpenMP 5.2, chapter 19), with LLVM's numbers.

use core::ffi::{c_char, c_int, c_uint, c_void};

/// `ompt_data_t`: a word that the runtime keeps for the tool with each task, region and thread.
#[repr(C)]
pub(super) struct Data {
    pub(super) value: u64,
}

/// `ompt_dependence_t`.
#[repr(C)]
pub(super) struct Dependence {
    pub(super) variable: u64,
    pub(super) kind: c_int,
}

/// `ompt_start_tool_result_t`.
#[repr(C)]
pub(super) struct StartToolResult {
    pub(super) initialize: extern "C" fn(Lookup, c_int, *mut Data) -> c_int,
    pub(super) finalize: extern "C" fn(*mut Data),
    pub(super) tool_data: u64,
}

/// `ompt_function_lookup_t`: the runtime's functions by name.
pub(super) type Lookup = unsafe extern "C" fn(*const c_char) -> *mut c_void;

/// `ompt_set_callback_t`: takes an event's number and a function, and returns how often the runtime
/// will call it.
pub(super) type SetCallback = unsafe extern "C" fn(c_int, *const c_void) -> c_int;

/// `ompt_set_always`, a result of [`SetCallback`].
pub(super) const SET_ALWAYS: c_int = 5;

/// Numbers of events (`ompt_callbacks_t`).
pub(super) mod event {
    use core::ffi::c_int;
    pub(crate) const THREAD_END: c_int = 2;
    pub(crate) const PARALLEL_BEGIN: c_int = 3;
    pub(crate) const PARALLEL_END: c_int = 4;
    pub(crate) const TASK_CREATE: c_int = 5;
    pub(crate) const TASK_SCHEDULE: c_int = 6;
    pub(crate) const IMPLICIT_TASK: c_int = 7;
    pub(crate) const SYNC_REGION_WAIT: c_int = 16;
    pub(crate) const MUTEX_RELEASED: c_int = 17;
    pub(crate) const DEPENDENCES: c_int = 18;
    pub(crate) const WORK: c_int = 20;
    pub(crate) const SYNC_REGION: c_int = 23;
    pub(crate) const MUTEX_ACQUIRE: c_int = 26;
    pub(crate) const MUTEX_ACQUIRED: c_int = 27;
    pub(crate) const DISPATCH: c_int = 32;
}

/// `ompt_scope_endpoint_t`; anything else is an end.
pub(super) mod endpoint {
    use core::ffi::c_int;
    pub(crate) const BEGIN: c_int = 1;
}

/// `ompt_task_flag_t`.
pub(super) mod flag {
    use core::ffi::c_uint;
    pub(crate) const EXPLICIT: c_uint = 4;
    pub(crate) const TARGET: c_uint = 8;
    pub(crate) const TASKWAIT: c_uint = 0x10;
    pub(crate) const UNDEFERRED: c_uint = 0x0800_0000;
    pub(crate) const UNTIED: c_uint = 0x1000_0000;
    pub(crate) const FINAL: c_uint = 0x2000_0000;
}

/// `ompt_task_status_t`.
pub(super) mod status {
    use core::ffi::c_int;
    pub(crate) const COMPLETE: c_int = 1;
    pub(crate) const YIELD: c_int = 2;
    pub(crate) const CANCEL: c_int = 3;
    pub(crate) const DETACH: c_int = 4;
    pub(crate) const EARLY_FULFILL: c_int = 5;
    pub(crate) const LATE_FULFILL: c_int = 6;
    pub(crate) const SWITCH: c_int = 7;
    pub(crate) const TASKWAIT_COMPLETE: c_int = 8;
}

/// `ompt_sync_region_t`; every other number is a barrier.
pub(super) mod sync {
    use core::ffi::c_int;
    pub(crate) const TASKWAIT: c_int = 5;
    pub(crate) const TASKGROUP: c_int = 6;
    pub(crate) const REDUCTION: c_int = 7;
}

/// `ompt_work_t`.
pub(super) mod work {
    use core::ffi::c_int;
    pub(crate) const LOOP: c_int = 1;
    pub(crate) const SECTIONS: c_int = 2;
    pub(crate) const TASKLOOP: c_int = 7;
    pub(crate) const LOOP_STATIC: c_int = 10;
    pub(crate) const LOOP_OTHER: c_int = 13;
}

/// `ompt_dispatch_t`.
pub(super) mod dispatch {
    use core::ffi::c_int;
    pub(crate) const ITERATION: c_int = 1;
    pub(crate) const SECTION: c_int = 2;
    pub(crate) const LOOP_CHUNK: c_int = 3;
}

/// `ompt_dispatch_chunk_t`.
#[repr(C)]
pub(super) struct Chunk {
    pub(super) start: u64,
    pub(super) iterations: u64,
}

/// `ompt_dependence_type_t`.
pub(super) mod dependence {
    use core::ffi::c_int;
    pub(crate) const IN: c_int = 1;
    pub(crate) const OUT: c_int = 2;
    pub(crate) const INOUT: c_int = 3;
    pub(crate) const MUTEXINOUTSET: c_int = 4;
    pub(crate) const INOUTSET: c_int = 7;
    pub(crate) const OUT_ALL_MEMORY: c_int = 34;
    pub(crate) const INOUT_ALL_MEMORY: c_int = 35;
}

/// All loaded files, in their order.
pub(super) const RTLD_DEFAULT: *mut c_void = core::ptr::null_mut();

unsafe extern "C" {
    pub(super) fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    pub(super) fn write(fd: c_int, from: *const c_void, length: usize) -> isize;
    pub(super) fn abort() -> !;
}

/// OMPT's `int flags`, as the `unsigned int` that they are.
pub(super) type Flags = c_uint;
