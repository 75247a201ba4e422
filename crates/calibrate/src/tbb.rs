//! oneTBB's tasks through the functions that its headers' templates call. Tasks, contexts and waits
//! have the layout of those headers since 2021.1.

use std::ffi::c_void;
use std::mem::transmute;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::library::Library;

/// `d1::task`: its table, `m_version_and_traits`, and the library's private fields.
#[repr(C, align(64))]
pub(crate) struct Task {
    table: *const Entries,
    words: [u64; 7],
}

impl Task {
    /// A task of the class with this table.
    #[inline]
    pub(crate) fn new(class: &'static Table) -> Task {
        Task {
            table: &raw const class.entries,
            words: [0; 7],
        }
    }
}

/// Runs a task; another one that it returns runs next.
pub(crate) type Run = extern "C" fn(*mut Task, *mut c_void) -> *mut Task;

/// The virtual table of a class of tasks without type information.
#[repr(C)]
pub(crate) struct Table {
    /// Offset to top, type information.
    before: [usize; 2],
    entries: Entries,
}

/// Two destructors that are never called, `execute` and `cancel`.
#[repr(C)]
struct Entries {
    destructors: [extern "C" fn(*mut Task); 2],
    run: [Run; 2],
}

impl Table {
    /// The table of a class whose tasks run `run`.
    pub(crate) const fn new(run: Run) -> Table {
        extern "C" fn nothing(_: *mut Task) {}
        Table {
            before: [0; 2],
            entries: Entries {
                destructors: [nothing; 2],
                run: [run; 2],
            },
        }
    }
}

/// `d1::task_group_context` with default settings, isolated: version 1 and zeros, for
/// `r1::initialize` to fill.
#[repr(C, align(64))]
pub(crate) struct Context([u8; 128]);

const CONTEXT_VERSION: usize = 12;

impl Context {
    /// A context that is not initialised yet.
    #[inline]
    pub(crate) fn new() -> Context {
        let mut bytes = [0; 128];
        bytes[CONTEXT_VERSION] = 1;
        Context(bytes)
    }
}

/// `d1::wait_context`.
#[repr(C)]
pub(crate) struct WaitContext {
    version: u64,
    count: AtomicU64,
}

impl WaitContext {
    /// A wait for `tasks` tasks.
    #[inline]
    pub(crate) fn new(tasks: u64) -> WaitContext {
        WaitContext {
            version: 1,
            count: AtomicU64::new(tasks),
        }
    }

    /// Adds one task to wait for.
    pub(crate) fn reserve(&self) {
        self.count.fetch_add(1, Ordering::Relaxed);
    }
}

type OfContext = unsafe extern "C" fn(*mut Context);
type Spawn = unsafe extern "C" fn(*mut Task, *mut Context);
type ExecuteAndWait = unsafe extern "C" fn(*mut Task, *mut Context, *mut WaitContext, *mut Context);
type Notify = unsafe extern "C" fn(usize);

/// The library's functions.
#[derive(Clone, Copy)]
pub(crate) struct Functions {
    /// `r1::initialize` and `r1::destroy` of a context.
    pub(crate) initialize: OfContext,
    pub(crate) destroy: OfContext,
    pub(crate) spawn: Spawn,
    pub(crate) execute_and_wait: ExecuteAndWait,
    notify: Notify,
}

impl Functions {
    /// # Errors
    /// A function is missing.
    pub(crate) fn load(library: &Library) -> Result<Functions, String> {
        // SAFETY: these are the types of the functions of these names.
        unsafe {
            Ok(Functions {
                initialize: transmute::<*mut c_void, OfContext>(library.function(
                    c"_ZN3tbb6detail2r110initializeERNS0_2d118task_group_contextE",
                )?),
                destroy: transmute::<*mut c_void, OfContext>(library.function(
                    c"_ZN3tbb6detail2r17destroyERNS0_2d118task_group_contextE",
                )?),
                spawn: transmute::<*mut c_void, Spawn>(library.function(
                    c"_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextE",
                )?),
                execute_and_wait: transmute::<*mut c_void, ExecuteAndWait>(library.function(
                    c"_ZN3tbb6detail2r116execute_and_waitERNS0_2d14taskERNS2_18task_group_contextERNS2_12wait_contextES6_",
                )?),
                notify: transmute::<*mut c_void, Notify>(
                    library.function(c"_ZN3tbb6detail2r114notify_waitersEm")?,
                ),
            })
        }
    }

    /// Called when a task of the wait has ended; the last one notifies the waiting thread.
    ///
    /// # Safety
    /// `wait` is live until the last call.
    #[inline]
    pub(crate) unsafe fn release(&self, wait: *const WaitContext) {
        // SAFETY: the caller guarantees that `wait` is live; the function only takes the address.
        unsafe {
            if (*wait).count.fetch_sub(1, Ordering::AcqRel) == 1 {
                (self.notify)(wait as usize);
            }
        }
    }
}
