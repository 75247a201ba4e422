//! `_Fork`, which tells nobody of the child: it is counted, and it is not recorded.
//!
//! Children made by a system call without the C library are not counted; they don't record either (the recorder's `fork`).

use core::ffi::{CStr, c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

/// `RTLD_NEXT`.
const NEXT: *mut c_void = usize::MAX as *mut c_void;
const ENOSYS: c_int = 38;

static REAL: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

unsafe extern "C" {
    fn dlsym(scope: *mut c_void, name: *const core::ffi::c_char) -> *mut c_void;
    fn __errno_location() -> *mut c_int;
}

/// Looks for the C library's function. Called at the start, as [`_Fork`] itself may be called in a signal's handler.
pub(crate) fn look() {
    const NAME: &CStr = c"_Fork";
    // SAFETY: the name is a C string.
    REAL.store(unsafe { dlsym(NEXT, NAME.as_ptr()) }, Ordering::Release);
}

/// `pid_t _Fork(void)`, of glibc since 2.34.
#[unsafe(no_mangle)]
extern "C" fn _Fork() -> c_int {
    if REAL.load(Ordering::Acquire).is_null() {
        look();
    }
    let real = REAL.load(Ordering::Acquire);
    if real.is_null() {
        // SAFETY: the location is the calling thread's own.
        unsafe { *__errno_location() = ENOSYS };
        return -1;
    }
    // SAFETY: the C library's function has this type.
    let child = unsafe { core::mem::transmute::<*mut c_void, extern "C" fn() -> c_int>(real)() };
    workspan_recorder::has_forked(child);
    child
}
