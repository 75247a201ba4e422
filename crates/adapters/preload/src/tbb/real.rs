//! libtbb's own functions, found when first called.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

use super::arena::Delegate;
use super::task::Task;

#[link(name = "dl")]
unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
}

const RTLD_NEXT: *mut c_void = -1isize as *mut c_void;
const RTLD_LAZY: c_int = 1;
const RTLD_NOLOAD: c_int = 4;

/// A function of libtbb's by its mangled name.
pub(super) struct Real<F> {
    name: &'static CStr,
    found: AtomicPtr<c_void>,
    as_type: std::marker::PhantomData<F>,
}

// SAFETY: a name and an atomic.
unsafe impl<F> Sync for Real<F> {}

impl<F: Copy> Real<F> {
    const fn new(name: &'static CStr) -> Self {
        Self {
            name,
            found: AtomicPtr::new(std::ptr::null_mut()),
            as_type: std::marker::PhantomData,
        }
    }

    /// The function. Where there is none the process ends, as it would have at the first call without us: by the loader.
    #[inline]
    pub(super) fn get(&self) -> F {
        let mut at = self.found.load(Ordering::Relaxed);
        if at.is_null() {
            at = self.find();
        }
        // SAFETY: the statics below give each name its type.
        unsafe { std::mem::transmute_copy(&at) }
    }

    #[cold]
    fn find(&self) -> *mut c_void {
        let at = lookup(self.name);
        if at.is_null() {
            eprintln!(
                "workspan: oneTBB's function {} is called but in no loaded library; record this program without its \
                 oneTBB part, or report it",
                self.name.to_string_lossy()
            );
            std::process::abort();
        }
        self.found.store(at, Ordering::Relaxed);
        at
    }
}

/// Behind this library, or in a libtbb that was loaded for some other library alone (`RTLD_LOCAL`), as Python does.
fn lookup(name: &CStr) -> *mut c_void {
    // SAFETY: the names are C strings; RTLD_NOLOAD only asks for what is loaded.
    unsafe {
        let at = dlsym(RTLD_NEXT, name.as_ptr());
        if !at.is_null() {
            return at;
        }
        for library in [c"libtbb.so.12", c"libtbb_debug.so.12", c"libtbb.so"] {
            let handle = dlopen(library.as_ptr(), RTLD_LAZY | RTLD_NOLOAD);
            if !handle.is_null() {
                let at = dlsym(handle, name.as_ptr());
                if !at.is_null() {
                    return at;
                }
            }
        }
        std::ptr::null_mut()
    }
}

/// What libtbb says of its version; null when it says nothing.
pub(super) fn version() -> Option<*const c_char> {
    let at = lookup(c"TBB_runtime_version");
    if at.is_null() {
        return None;
    }
    // SAFETY: oneTBB's `const char* TBB_runtime_version()`.
    let text =
        unsafe { std::mem::transmute::<*mut c_void, extern "C" fn() -> *const c_char>(at)() };
    (!text.is_null()).then_some(text)
}

pub(super) type Spawn = unsafe extern "C-unwind" fn(*mut Task, usize);
pub(super) type SpawnTo = unsafe extern "C-unwind" fn(*mut Task, usize, u16);
pub(super) type Submit = unsafe extern "C-unwind" fn(*mut Task, usize, *mut c_void, usize);
pub(super) type Enqueue = unsafe extern "C-unwind" fn(*mut Task, *mut c_void);
pub(super) type EnqueueIn = unsafe extern "C-unwind" fn(*mut Task, usize, *mut c_void);
pub(super) type ExecuteAndWait = unsafe extern "C-unwind" fn(*mut Task, usize, *mut c_void, usize);
pub(super) type Wait = unsafe extern "C-unwind" fn(*mut c_void, usize);
pub(super) type Execute = unsafe extern "C-unwind" fn(*mut c_void, *mut Delegate);
pub(super) type Callback = unsafe extern "C-unwind" fn(*mut c_void, *mut c_void);
pub(super) type Suspend = unsafe extern "C-unwind" fn(Callback, *mut c_void);
pub(super) type Resume = unsafe extern "C-unwind" fn(*mut c_void);
pub(super) type Initialize = unsafe extern "C-unwind" fn(usize);
pub(super) type Pipeline = unsafe extern "C-unwind" fn(usize, usize, *mut c_void);

pub(super) static SPAWN: Real<Spawn> =
    Real::new(c"_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextE");
pub(super) static SPAWN_TO: Real<SpawnTo> =
    Real::new(c"_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextEt");
pub(super) static SUBMIT: Real<Submit> =
    Real::new(c"_ZN3tbb6detail2r16submitERNS0_2d14taskERNS2_18task_group_contextEPNS1_5arenaEm");
pub(super) static ENQUEUE: Real<Enqueue> =
    Real::new(c"_ZN3tbb6detail2r17enqueueERNS0_2d14taskEPNS2_15task_arena_baseE");
pub(super) static ENQUEUE_IN: Real<EnqueueIn> = Real::new(
    c"_ZN3tbb6detail2r17enqueueERNS0_2d14taskERNS2_18task_group_contextEPNS2_15task_arena_baseE",
);
pub(super) static EXECUTE_AND_WAIT: Real<ExecuteAndWait> = Real::new(
    c"_ZN3tbb6detail2r116execute_and_waitERNS0_2d14taskERNS2_18task_group_contextERNS2_12wait_contextES6_",
);
pub(super) static WAIT: Real<Wait> =
    Real::new(c"_ZN3tbb6detail2r14waitERNS0_2d112wait_contextERNS2_18task_group_contextE");
pub(super) static EXECUTE: Real<Execute> =
    Real::new(c"_ZN3tbb6detail2r17executeERNS0_2d115task_arena_baseERNS2_13delegate_baseE");
pub(super) static SUSPEND: Real<Suspend> =
    Real::new(c"_ZN3tbb6detail2r17suspendEPFvPvPNS1_18suspend_point_typeEES2_");
pub(super) static RESUME: Real<Resume> =
    Real::new(c"_ZN3tbb6detail2r16resumeEPNS1_18suspend_point_typeE");
pub(super) static INITIALIZE: Real<Initialize> =
    Real::new(c"_ZN3tbb6detail2r110initializeERNS0_2d118task_group_contextE");
pub(super) static PIPELINE: Real<Pipeline> = Real::new(
    c"_ZN3tbb6detail2r117parallel_pipelineERNS0_2d118task_group_contextEmRKNS2_11filter_nodeE",
);
