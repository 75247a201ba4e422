//! Functions of the runtime that compiled programs call, stood in front of for what no event tells: the address a
//! `taskloop` is called from (its events have one inside of the runtime), the function made of a region (which is named
//! when the region's call was a tail call, so that it returns into the runtime), and that an `if` clause was false, which a
//! team of one does not tell from its own undeferred tasks. Each notes that, and jumps to the real one with all
//! arguments as they were.

use core::ffi::{CStr, c_void};
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};
use std::sync::Mutex;

use super::ffi::{self, ObjectInfo};
use super::lane;

/// An entry point of the runtime.
struct Real {
    name: &'static CStr,
    found: AtomicPtr<c_void>,
}

static TASKLOOP: Real = Real::new(c"__kmpc_taskloop");
static TASKLOOP_5: Real = Real::new(c"__kmpc_taskloop_5");
static FORK: Real = Real::new(c"__kmpc_fork_call");
static BEGIN_IF0: Real = Real::new(c"__kmpc_omp_task_begin_if0");

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
extern "C" fn fork(return_address: usize, function: usize) -> *mut c_void {
    if let Some(lane) = lane::of_thread() {
        lane.region_function = function;
    }
    FORK.get(return_address)
}

extern "C" fn taskloop(return_address: usize) -> *mut c_void {
    note_taskloop(return_address);
    TASKLOOP.get(return_address)
}

extern "C" fn taskloop_5(return_address: usize) -> *mut c_void {
    note_taskloop(return_address);
    TASKLOOP_5.get(return_address)
}

fn note_taskloop(return_address: usize) {
    if let Some(lane) = lane::of_thread() {
        lane.taskloop_call = return_address;
    }
}

extern "C" fn begin_if0(return_address: usize) -> *mut c_void {
    if let Some(lane) = lane::of_thread() {
        lane.said_if = true;
    }
    BEGIN_IF0.get(return_address)
}

impl Real {
    const fn new(name: &'static CStr) -> Real {
        Real {
            name,
            found: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// The function the caller would have called.
    #[inline]
    fn get(&self, caller: usize) -> *mut c_void {
        let found = self.found.load(Ordering::Relaxed);
        if found.is_null() {
            return self.look(caller);
        }
        found
    }

    #[cold]
    fn look(&self, caller: usize) -> *mut c_void {
        // SAFETY: the location of errno is the thread's own.
        let errno = unsafe { ffi::__errno_location() };
        // SAFETY: as above.
        let kept = unsafe { *errno };
        // SAFETY: the name is a C string.
        let next = unsafe { ffi::dlsym(ffi::RTLD_NEXT, self.name.as_ptr()) };
        let real = if next.is_null() {
            self.of_caller(caller)
        } else {
            self.found.store(next, Ordering::Relaxed);
            next
        };
        // SAFETY: as above.
        unsafe { *errno = kept };
        if real.is_null() {
            missing(self.name);
        }
        real
    }

    /// In a program that loads its OpenMP library at run time for itself alone, only the calling object knows it.
    fn of_caller(&self, caller: usize) -> *mut c_void {
        static KNOWN: Mutex<Vec<(usize, &CStr, usize)>> = Mutex::new(Vec::new());
        let Ok(mut known) = KNOWN.lock() else {
            return ptr::null_mut();
        };
        if let Some(&(_, _, real)) = known
            .iter()
            .find(|&&(at, name, _)| at == caller && name == self.name)
        {
            return real as *mut c_void;
        }
        let mut info = ObjectInfo {
            file: ptr::null(),
            base: ptr::null_mut(),
            symbol: ptr::null(),
            address: ptr::null_mut(),
        };
        // SAFETY: `info` may be written; the object is loaded already, so opening it runs nothing, and as its code is
        // running, closing it unloads nothing.
        let real = unsafe {
            if ffi::dladdr(caller as *const c_void, &raw mut info) == 0 || info.file.is_null() {
                return ptr::null_mut();
            }
            let object = ffi::dlopen(info.file, ffi::RTLD_LAZY | ffi::RTLD_NOLOAD);
            if object.is_null() {
                return ptr::null_mut();
            }
            let real = ffi::dlsym(object, self.name.as_ptr());
            ffi::dlclose(object);
            real
        };
        if known.len() < 1024 {
            known.push((caller, self.name, real as usize));
        }
        real
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
