//! Interposes `_Fork`, which runs no handlers in the child. The child is counted and not recorded.
//!
//! Children of a direct system call are not counted. They are not recorded either (the recorder's
//! `fork`).

use core::ffi::c_int;

use crate::libc_symbol::LibcSymbol;

const ENOSYS: c_int = 38;

// SAFETY: this is the function's type.
static NEXT_FORK: LibcSymbol<extern "C" fn() -> c_int> = unsafe { LibcSymbol::new(c"_Fork") };

unsafe extern "C" {
    fn __errno_location() -> *mut c_int;
}

/// Looks up the C library's function. Called at the start, because [`_Fork`] itself may be called
/// in a signal handler.
pub(crate) fn look() {
    NEXT_FORK.get();
}

/// `pid_t _Fork(void)`, of glibc since 2.34.
#[unsafe(no_mangle)]
extern "C" fn _Fork() -> c_int {
    let Some(next) = NEXT_FORK.get() else {
        // SAFETY: the location is the calling thread's own.
        unsafe { *__errno_location() = ENOSYS };
        return -1;
    };
    let child = next();
    workspan_recorder::has_forked(child);
    child
}
