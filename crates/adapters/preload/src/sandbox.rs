//! Interposes `prctl`, to detect that the program is about to enter a sandbox, in which it may have
//! forbidden itself system calls that the recorder can do without.
//!
//! An unprivileged process has to give up new privileges before the kernel accepts a filter from
//! it, and libraries do that with this function. A filter that a privileged process installs by a
//! direct system call is not detected.

use core::ffi::{c_int, c_long, c_ulong};

const PR_SET_SECCOMP: c_int = 22;
const PR_SET_NO_NEW_PRIVS: c_int = 38;

#[cfg(target_arch = "x86_64")]
const SYS_PRCTL: c_long = 157;
#[cfg(not(target_arch = "x86_64"))]
const SYS_PRCTL: c_long = 167;

unsafe extern "C" {
    fn syscall(number: c_long, ...) -> c_long;
}

/// `int prctl(int, ...)`: for any option, the kernel takes up to four more words.
///
/// # Safety
/// The same as for the C library's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn prctl(
    option: c_int,
    second: c_ulong,
    third: c_ulong,
    fourth: c_ulong,
    fifth: c_ulong,
) -> c_int {
    if matches!(option, PR_SET_SECCOMP | PR_SET_NO_NEW_PRIVS) {
        workspan_recorder::stop_cpu_clocks();
    }
    // SAFETY: the caller's arguments, as the C library's function passes them on.
    unsafe { syscall(SYS_PRCTL, option, second, third, fourth, fifth) as c_int }
}
