//! The start of a thread that is a task: its task begins, then the program's routine runs as if the
//! C library had called it.

use core::ffi::c_void;

use workspan_recorder::adapter::{KeepErrno, LiveHandle};

use super::Routine;

/// The routine of a new thread, its argument, and its task.
pub(super) struct Start {
    routine: Routine,
    argument: *mut c_void,
    task: u64,
}

/// The result of [`begin`], in two registers.
#[repr(C)]
struct Call {
    routine: Routine,
    argument: *mut c_void,
}

impl Start {
    /// Creates the data for [`thread_start`], which frees them.
    pub(super) fn new(routine: Routine, argument: *mut c_void, task: u64) -> *mut Start {
        Box::into_raw(Box::new(Start {
            routine,
            argument,
            task,
        }))
    }

    /// Frees the data of a thread that was not started.
    ///
    /// # Safety
    /// `start` comes from [`Start::new`], and no thread has it.
    pub(super) unsafe fn free(start: *mut Start) {
        // SAFETY: the caller guarantees that no thread has it.
        drop(unsafe { Box::from_raw(start) });
    }
}

/// The routine of the new thread. It jumps to the program's own, so that no frame of ours is on the
/// thread's stack: `pthread_exit`, cancellation and exceptions unwind the same frames as without
/// us.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
pub(super) unsafe extern "C-unwind" fn thread_start(start: *mut c_void) -> *mut c_void {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "sub rsp, 8",
        ".cfi_adjust_cfa_offset 8",
        "call {begin}",
        "add rsp, 8",
        ".cfi_adjust_cfa_offset -8",
        "mov rdi, rdx",
        "jmp rax",
        ".cfi_endproc",
        begin = sym begin,
    )
}

/// The version for AArch64.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
pub(super) unsafe extern "C-unwind" fn thread_start(start: *mut c_void) -> *mut c_void {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "stp x29, x30, [sp, #-16]!",
        ".cfi_adjust_cfa_offset 16",
        "bl {begin}",
        "ldp x29, x30, [sp], #16",
        ".cfi_adjust_cfa_offset -16",
        "mov x16, x0",
        "mov x0, x1",
        "br x16",
        ".cfi_endproc",
        begin = sym begin,
    )
}

/// Begins the thread's task. Returns the routine and argument that the thread runs.
unsafe extern "C" fn begin(start: *mut Start) -> Call {
    // SAFETY: `pthread_create` passed the result of `Start::new` to this thread.
    let start = unsafe { Box::from_raw(start) };
    let _errno = KeepErrno::new();
    // SAFETY: the handle is used only in this call, on its own thread.
    if let Some(h) = unsafe { LiveHandle::current() } {
        h.begin_thread_task(start.task);
    }
    Call {
        routine: start.routine,
        argument: start.argument,
    }
}
