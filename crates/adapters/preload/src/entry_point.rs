//! An entry point that replaces a library's function and calls a hook before and after it, in
//! assembly. Compiled code would have no frame pointer from which to start a walk. Also, no Rust
//! frame may be on the stack while the library's function runs, because that may be cancelled or
//! unwound.
//!
//! It preserves all arguments, those in registers and those on the stack. Its unwind information is
//! valid at every call, and there is nothing to clean up, so that cancellation and exceptions pass
//! through. The words below its frame pointer are:
//!
//! | word | |
//! |---|---|
//! | 1 to 6 | the arguments in registers |
//! | 7 | when the call began |
//! | 8 | its result |
//! | 9 | a word of the hooks' own, 0 at first |
//! | 10 to 19 | room of the hooks' own, where there is any |
//! | | a copy of the arguments on the stack, for the library's function |

use super::waits::stack;
use workspan_recorder::wait_log::{self, MAX_FRAMES};

/// The hook's result before the call.
#[repr(C)]
pub(crate) struct HookResult {
    /// The function to call.
    pub next: usize,
    /// The time of the call, in ticks; 0 if the hook after the call is not needed.
    pub begin: u64,
}

/// The frame of an entry point, by its frame pointer.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Frame(*mut usize);

/// The number of arguments in registers.
const REGISTERS: usize = 6;
/// Indices of words below the frame pointer.
const RESULT: usize = 8;
const OWN: usize = 9;
const ROOM: usize = 19;

impl Frame {
    fn slot(self, i: usize) -> *mut usize {
        match i < REGISTERS {
            true => self.0.wrapping_sub(1 + i),
            false => self.0.wrapping_add(2 + i - REGISTERS),
        }
    }

    /// The i-th argument.
    ///
    /// # Safety
    /// The function has more than `i` arguments.
    pub(crate) unsafe fn argument(self, i: usize) -> usize {
        // SAFETY: the caller guarantees the argument, which the entry point saved, or which is on
        // the stack.
        unsafe { *self.slot(i) }
    }

    /// Replaces an argument of the library's function.
    ///
    /// # Safety
    /// The same as for [`Frame::argument`], and the function was not called yet. A function owns
    /// its arguments on the stack.
    pub(crate) unsafe fn replace(self, i: usize, argument: usize) {
        // SAFETY: the caller guarantees the argument.
        unsafe { *self.slot(i) = argument };
    }

    /// The result of the library's function.
    ///
    /// # Safety
    /// The library's function has returned.
    pub(crate) unsafe fn result(self) -> usize {
        // SAFETY: the entry point stored the result.
        unsafe { *self.0.wrapping_sub(RESULT) }
    }

    /// The hooks' own word.
    ///
    /// # Safety
    /// The library's function is not running.
    pub(crate) unsafe fn own(self) -> &'static mut usize {
        // SAFETY: the entry point set it, and nothing else refers to it.
        unsafe { &mut *self.0.wrapping_sub(OWN) }
    }

    /// The address of the hooks' own 80 bytes, in an entry point that has them.
    pub(crate) fn room(self) -> usize {
        self.0.wrapping_sub(ROOM) as usize
    }

    /// The address that the entry point returns to.
    pub(crate) fn returns_to(self) -> usize {
        // SAFETY: the return address is behind the saved frame pointer.
        unsafe { *self.0.wrapping_add(1) }
    }

    /// The number of the call stack in the log.
    pub(crate) fn chain(self) -> u32 {
        let mut addresses = [0; MAX_FRAMES];
        // SAFETY: an entry point's frame has both.
        let count = unsafe { stack::walk(self.0, &mut addresses) };
        wait_log::chain(addresses.get(..count).unwrap_or(&[]))
    }
}

/// The name of a function as a C string.
macro_rules! c_name {
    ($name:ident) => {
        match core::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
            Ok(name) => name,
            Err(_) => panic!("a name with a 0 at its end"),
        }
    };
}

/// Defines the entry point `$name` with its table row `$entry`, of type `E`, whose hooks are
/// `extern "C" fn before(&E, Frame) -> HookResult` and `extern "C" fn after(&E, Frame, u64)`. The
/// instructions in `first` come first; a call that they do not handle continues at label 2. `stack`
/// is the number of arguments on the stack. `frame` is the number of bytes below the frame pointer:
/// a multiple of 16 and at least 72, or 152 with room for the hooks, and 8 more for each of these
/// arguments.
macro_rules! entry_point {
    (
        $name:ident, $entry:ident, $hooks:ident,
        first: ($($first:literal),*), stack: $stack:literal, frame: $frame:literal,
        $($operands:tt)*
    ) => {
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, reason = "the name is the library's")]
        unsafe extern "C-unwind" fn $name() {
            core::arch::naked_asm!(
                ".cfi_startproc",
                $($first,)*
                "2:",
                "push rbp",
                ".cfi_def_cfa_offset 16",
                ".cfi_offset rbp, -16",
                "mov rbp, rsp",
                ".cfi_def_cfa_register rbp",
                "sub rsp, {frame}",
                "mov [rbp - 8], rdi",
                "mov [rbp - 16], rsi",
                "mov [rbp - 24], rdx",
                "mov [rbp - 32], rcx",
                "mov [rbp - 40], r8",
                "mov [rbp - 48], r9",
                "mov qword ptr [rbp - 72], 0",
                "lea rdi, [rip + {entry}]",
                "mov rsi, rbp",
                "call {before}",
                "mov [rbp - 56], rdx",
                ".set workspan_at, 0",
                ".rept {stack}",
                "mov r11, [rbp + 16 + 8 * workspan_at]",
                "mov [rsp + 8 * workspan_at], r11",
                ".set workspan_at, workspan_at + 1",
                ".endr",
                "mov rdi, [rbp - 8]",
                "mov rsi, [rbp - 16]",
                "mov rdx, [rbp - 24]",
                "mov rcx, [rbp - 32]",
                "mov r8, [rbp - 40]",
                "mov r9, [rbp - 48]",
                "call rax",
                "mov rdx, [rbp - 56]",
                "test rdx, rdx",
                "jz 3f",
                "mov [rbp - 64], rax",
                "lea rdi, [rip + {entry}]",
                "mov rsi, rbp",
                "call {after}",
                "mov rax, [rbp - 64]",
                "3:",
                "leave",
                ".cfi_def_cfa rsp, 8",
                "ret",
                ".cfi_endproc",
                entry = sym $entry,
                before = sym $hooks::before,
                after = sym $hooks::after,
                stack = const $stack,
                frame = const $frame,
                $($operands)*
            )
        }
    };
}

pub(crate) use {c_name, entry_point};
