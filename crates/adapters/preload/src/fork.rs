//! Interposes `_Fork`, which runs no handlers in the child: the child is counted, and it is not
//! recorded.
//!
//! Children of a bare system call are not counted. They are not recorded either (the recorder's
//! `fork`).

use core::ffi::{CStr, c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

/// Lookup in the files after this library.
const RTLD_NEXT: *mut c_void = usize::MAX as *mut c_void;
const ENOSYS: c_int = 38;

static NEXT_FORK: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

unsafe extern "C" {
    fn dlsym(scope: *mut c_void, name: *const core::ffi::c_char) -> *mut c_void;
    fn __errno_location() -> *mut c_int;
}

/// Looks up the C library's function. Called at the start, because [`_Fork`] itself may be called
/// in a signal handler.
pub(crate) fn look() {
    const NAME: &CStr = c"_Fork";
    // SAFETY: the name is a C string.
    NEXT_FORK.store(
        unsafe { dlsym(RTLD_NEXT, NAME.as_ptr()) },
        Ordering::Release,
    );
}

/// `pid_t _Fork(void)`, of glibc since 2.34.
#[unsafe(no_mangle)]
extern "C" fn _Fork() -> c_int {
    if NEXT_FORK.load(Ordering::Acquire).is_null() {
        look();
    }
    let next = NEXT_FORK.load(Ordering::Acquire);
    if next.is_null() {
        // SAFETY: the location is the calling thread's own.
        unsafe { *__errno_location() = ENOSYS };
        return -1;
    }
    // SAFETY: the C library's function has this type.
    let child = unsafe { core::mem::transmute::<*mut c_void, extern "C" fn() -> c_int>(next)() };
    workspan_recorder::has_forked(child);
    child
}
