//! OpenMP's tasks through the entry points that GCC's code calls. libgomp has them, and LLVM's and
//! Intel's libomp have them too, so no compiler is needed.

use std::ffi::{c_int, c_long, c_uint, c_void};
use std::mem::transmute;
use std::ptr;

use crate::library::Library;

pub(crate) type Body = extern "C" fn(*mut c_void);
type Copier = extern "C" fn(*mut c_void, *const c_void);
type Parallel = unsafe extern "C" fn(Body, *mut c_void, c_uint, c_uint);
/// Parameters: body, its data, how to copy it, size and alignment of the data, deferred, flags,
/// dependences, priority, event. Older versions have fewer.
type CreateTask = unsafe extern "C" fn(
    Body,
    *mut c_void,
    Option<Copier>,
    c_long,
    c_long,
    bool,
    c_uint,
    *mut *mut c_void,
    c_int,
    *mut c_void,
);

/// The library's functions.
#[derive(Clone, Copy)]
pub(crate) struct Functions {
    parallel: Parallel,
    create: CreateTask,
    taskwait: unsafe extern "C" fn(),
    thread: unsafe extern "C" fn() -> c_int,
}

impl Functions {
    /// # Errors
    /// A function is missing.
    pub(crate) fn load(library: &Library) -> Result<Functions, String> {
        // SAFETY: these are the types of the functions of these names in every version of libgomp
        // since GCC 4.9 and of libomp.
        unsafe {
            Ok(Functions {
                parallel: transmute::<*mut c_void, Parallel>(library.function(c"GOMP_parallel")?),
                create: transmute::<*mut c_void, CreateTask>(library.function(c"GOMP_task")?),
                taskwait: transmute::<*mut c_void, unsafe extern "C" fn()>(
                    library.function(c"GOMP_taskwait")?,
                ),
                thread: transmute::<*mut c_void, unsafe extern "C" fn() -> c_int>(
                    library.function(c"omp_get_thread_num")?,
                ),
            })
        }
    }

    /// Runs a region with `threads` threads, all of which run `body` with `data`.
    ///
    /// # Safety
    /// `data` must be valid for `body` on all threads at once.
    pub(crate) unsafe fn parallel(&self, threads: u32, body: Body, data: *mut c_void) {
        // SAFETY: the caller guarantees that `data` is valid for `body`.
        unsafe { (self.parallel)(body, data, threads, 0) }
    }

    /// Creates a task that runs `body` with a bytewise copy of `data`.
    ///
    /// # Safety
    /// The caller is in a region, and `body` takes a pointer to a `T`.
    #[inline]
    pub(crate) unsafe fn task<T: Copy>(&self, body: Body, mut data: T) {
        // SAFETY: `body` takes a pointer to a `T`, and the runtime copies the data before this
        // returns.
        unsafe {
            (self.create)(
                body,
                (&raw mut data).cast(),
                None,
                size_of::<T>() as c_long,
                align_of::<T>() as c_long,
                true,
                0,
                ptr::null_mut(),
                0,
                ptr::null_mut(),
            );
        }
    }

    /// Waits for the current task's children.
    ///
    /// # Safety
    /// The caller is in a region.
    #[inline]
    pub(crate) unsafe fn taskwait(&self) {
        // SAFETY: the caller is in a region.
        unsafe { (self.taskwait)() }
    }

    /// The calling thread's number in its team.
    pub(crate) fn thread(&self) -> i32 {
        // SAFETY: the function may be called anywhere.
        unsafe { (self.thread)() }
    }
}
