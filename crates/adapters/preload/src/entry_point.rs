//! An entry point that stands in front of a library's function and calls a hook before and after
//! it, in assembly: the compiler's own code has no frame pointer to start a walk from, and no frame
//! of Rust may be on the stack while the library's function runs, which may be cancelled or
//! unwound.
//!
//! It keeps all arguments, those in registers and those on the stack. Its unwind information holds
//! at every call, and there is nothing to clean up, so that cancellation and exceptions pass
//! through. From its frame pointer down lie:
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

/// What an entry point goes on with.
#[repr(C)]
pub(crate) struct Before {
    /// The function to call.
    pub next: usize,
    /// When that was, in ticks; 0: the hook after it is not called.
    pub begin: u64,
}

/// The frame of an entry point, by its frame pointer.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Frame(*mut usize);

/// Arguments in registers.
const REGISTERS: usize = 6;
/// Words below the frame pointer.
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
        // SAFETY: the caller's: saved by the entry point, or on the stack.
        unsafe { *self.slot(i) }
    }

    /// Has the library's function get another argument.
    ///
    /// # Safety
    /// As above, and before it is called. A function's arguments on the stack are its own.
    pub(crate) unsafe fn replace(self, i: usize, argument: usize) {
        // SAFETY: the caller's.
        unsafe { *self.slot(i) = argument };
    }

    /// What the library's function returned.
    ///
    /// # Safety
    /// After the library's function.
    pub(crate) unsafe fn result(self) -> usize {
        // SAFETY: the entry point stored the result.
        unsafe { *self.0.wrapping_sub(RESULT) }
    }

    /// The hooks' own word.
    ///
    /// # Safety
    /// Before the library's function, or after it.
    pub(crate) unsafe fn own(self) -> &'static mut usize {
        // SAFETY: the entry point set it, and nothing else refers to it.
        unsafe { &mut *self.0.wrapping_sub(OWN) }
    }

    /// The address of the hooks' own room, of 80 bytes, of an entry point that has some.
    pub(crate) fn room(self) -> usize {
        self.0.wrapping_sub(ROOM) as usize
    }

    /// The address that the entry point returns to.
    pub(crate) fn returns_to(self) -> usize {
        // SAFETY: behind the saved frame pointer lies the return address.
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

/// An entry point `$name` with its table row `$entry`, of type `E`, whose hooks are
/// `extern "C" fn before(&E, Frame) -> Before` and `extern "C" fn after(&E, Frame, u64)`. The
/// instructions in `first` come first; what they do not serve goes on at 2. So many arguments come
/// on the stack; below the frame pointer there are `frame` bytes, a multiple of 16 and at least 72,
/// or 152 with room for the hooks, and 8 more for each of these arguments.
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
