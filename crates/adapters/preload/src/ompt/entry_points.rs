//! Functions of the runtime that compiled programs call, stood in front of for what no event tells: the address a
//! `taskloop` is called from (its events have one inside of the runtime), the function made of a region (which is named
//! when the region's call was a tail call, so that it returns into the runtime), and that an `if` clause was false, which a
//! team of one does not tell from its own undeferred tasks. Each notes that, and jumps to the real one with all
//! arguments as they were.

use core::ffi::{CStr, c_void};
use core::ptr;

use workspan_recorder::adapter::KeepErrno;

use super::ffi;
use super::thread_state;
use crate::runtimes::{Caller, Family, Function, Key, Resolution, now_and_then};

/// Copies of LLVM's runtime.
static LLVM: Family = Family::new(c"__kmpc_fork_call", "LLVM OpenMP", forget);

// The file that last called on this thread, in a process with one runtime.
workspan_recorder::thread_word!(LastCaller: Caller, "workspan_ompt_caller");

/// An entry point of the runtime.
struct EntryPoint(Function);

static TASKLOOP: EntryPoint = EntryPoint::new(c"__kmpc_taskloop");
static TASKLOOP_5: EntryPoint = EntryPoint::new(c"__kmpc_taskloop_5");
static FORK: EntryPoint = EntryPoint::new(c"__kmpc_fork_call");
static BEGIN_IF0: EntryPoint = EntryPoint::new(c"__kmpc_omp_task_begin_if0");

/// Forgets what is known of the one runtime.
fn forget() {
    for found in [&TASKLOOP, &TASKLOOP_5, &FORK, &BEGIN_IF0] {
        found.0.forget();
    }
}

/// Defines an exported function that calls `$note` with its return address and third argument, and jumps where that says.
/// The register in which a caller counts vector arguments is kept too, as some of the functions take any number of arguments.
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

    /// The function the caller would have called.
    #[inline]
    fn get(&self, key: Key) -> *mut c_void {
        // SAFETY: callers live for ever.
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

/// The program called what no library has: without us the loader would have ended it.
fn missing(name: &CStr) -> ! {
    let text = [
        b"workspan: symbol lookup error: undefined symbol: ",
        name.to_bytes(),
        b"\n",
    ]
    .concat();
    // SAFETY: the bytes are as many as said.
    unsafe {
        ffi::write(2, text.as_ptr().cast(), text.len());
        ffi::abort()
    }
}
