//! Interposes functions of the runtime that compiled programs call, for facts that no event
//! provides:
//!
//! * the address that a `taskloop` is called from: its events have one inside the runtime
//! * the function of a region: it names the region if the region's call was a tail call, which
//!   returns into the runtime
//! * that an `if` clause was false: in a team of one the runtime makes all tasks undeferred
//!
//! Each function notes its fact and jumps to the next symbol with unchanged arguments.

use core::ffi::{CStr, c_void};
use core::ptr;

use workspan_recorder::adapter::KeepErrno;

use super::ffi;
use super::thread_state;
use crate::runtimes::{Caller, Function, Key, Resolution, RuntimeCopies, now_and_then};

/// Copies of LLVM's runtime.
static LLVM: RuntimeCopies = RuntimeCopies::new(c"__kmpc_fork_call", "LLVM OpenMP", forget);

// With one runtime in the process: the file that made the thread's last call.
workspan_recorder::tls_slot!(LastCaller: Caller, "workspan_ompt_caller");

/// A function of the runtime that is interposed.
struct EntryPoint(Function);

static TASKLOOP: EntryPoint = EntryPoint::new(c"__kmpc_taskloop");
static TASKLOOP_5: EntryPoint = EntryPoint::new(c"__kmpc_taskloop_5");
static FORK: EntryPoint = EntryPoint::new(c"__kmpc_fork_call");
static BEGIN_IF0: EntryPoint = EntryPoint::new(c"__kmpc_omp_task_begin_if0");

/// Discards the addresses in the only runtime.
fn forget() {
    for found in [&TASKLOOP, &TASKLOOP_5, &FORK, &BEGIN_IF0] {
        found.0.forget();
    }
}

/// Defines an exported function that calls `$note` with its return address and its third argument,
/// and jumps to the address that `$note` returns. Some of the functions are variadic, so the
/// register in which a caller counts vector arguments is preserved too.
#[cfg(target_arch = "x86_64")]
macro_rules! entry {
    ($name:ident, $note:ident) => {
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        extern "C" fn $name() {
            core::arch::naked_asm!(
                "push rdi",
                "push rsi",
                "push rdx",
                "push rcx",
                "push r8",
                "push r9",
                "push rax",
                "mov rdi, [rsp + 56]",
                "mov rsi, rdx",
                "call {note}",
                "mov r11, rax",
                "pop rax",
                "pop r9",
                "pop r8",
                "pop rcx",
                "pop rdx",
                "pop rsi",
                "pop rdi",
                "jmp r11",
                note = sym $note,
            )
        }
    };
}

#[cfg(target_arch = "x86_64")]
entry!(__kmpc_taskloop, taskloop);
#[cfg(target_arch = "x86_64")]
entry!(__kmpc_taskloop_5, taskloop_5);
#[cfg(target_arch = "x86_64")]
entry!(__kmpc_fork_call, fork);
#[cfg(target_arch = "x86_64")]
entry!(__kmpc_omp_task_begin_if0, begin_if0);

/// `__kmpc_fork_call(location, arguments, function, …)`.
extern "C" fn fork(_return_address: usize, function: usize) -> *mut c_void {
    now_and_then(&LLVM);
    if let Some(thread) = thread_state::current() {
        thread.region_function = function;
    }
    FORK.get(Key::Code(function))
}

extern "C" fn taskloop(return_address: usize) -> *mut c_void {
    note_taskloop(return_address);
    TASKLOOP.get(Key::Return(return_address))
}

extern "C" fn taskloop_5(return_address: usize) -> *mut c_void {
    note_taskloop(return_address);
    TASKLOOP_5.get(Key::Return(return_address))
}

fn note_taskloop(return_address: usize) {
    if let Some(thread) = thread_state::current() {
        thread.taskloop_call = return_address;
    }
}

extern "C" fn begin_if0(return_address: usize) -> *mut c_void {
    if let Some(thread) = thread_state::current() {
        thread.has_false_if = true;
    }
    BEGIN_IF0.get(Key::Return(return_address))
}

impl EntryPoint {
    const fn new(name: &'static CStr) -> EntryPoint {
        EntryPoint(Function::new(name))
    }

    /// The function that the caller would have reached without us.
    #[inline]
    fn get(&self, key: Key) -> *mut c_void {
        // SAFETY: null or a caller, and callers are never freed.
        let is_known =
            unsafe { LastCaller::get().as_ref() }.is_some_and(|last| last.contains(key.address()));
        let found = if is_known { self.0.in_only() } else { 0 };
        if found == 0 {
            return self.look(key);
        }
        found as *mut c_void
    }

    #[cold]
    #[inline(never)]
    fn look(&self, key: Key) -> *mut c_void {
        let _errno = KeepErrno::new();
        let runtime = match LLVM.resolve(key) {
            Resolution::Runtime(runtime, caller) => {
                if let Some(caller) = caller {
                    LastCaller::set(ptr::from_ref(caller).cast_mut());
                }
                Some(runtime)
            }
            Resolution::Ambiguous | Resolution::Missing => LLVM.first(),
        };
        let found = runtime.map_or(0, |runtime| self.0.find_in(&LLVM, runtime));
        if found == 0 {
            missing(self.0.name);
        }
        found as *mut c_void
    }
}

/// Ends the process, because the program called a function that no library has. Without us the
/// loader would have ended it.
fn missing(name: &CStr) -> ! {
    let text = [
        b"workspan: symbol lookup error: undefined symbol: ",
        name.to_bytes(),
        b"\n",
    ]
    .concat();
    // SAFETY: the slice has that many bytes.
    unsafe {
        ffi::write(2, text.as_ptr().cast(), text.len());
        ffi::abort()
    }
}
