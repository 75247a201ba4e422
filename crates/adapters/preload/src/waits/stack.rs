//! The calling thread's id and call stack, without a system call or a lock.

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use workspan_recorder::wait_log::MAX_FRAMES;

/// The offset of the kernel's thread id from glibc's thread pointer, in bytes. It is the same in
/// all versions for x86-64; [`look`] checks it.
const TID_AT: usize = 0x2d0;
/// The largest size in bytes of a frame that is followed, and of a stack whose frames are followed.
const MAX_FRAME_BYTES: usize = 64 << 10;
const MAX_STACK_BYTES: usize = 8 << 20;

/// Whether the thread id is at [`TID_AT`].
static KNOWS_TID: AtomicBool = AtomicBool::new(false);
/// The main thread's id.
static MAIN: AtomicUsize = AtomicUsize::new(0);
/// The end of the main thread's stack.
static MAIN_TOP: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" {
    /// The loader's variable: the main thread's stack pointer at the program's start.
    static __libc_stack_end: usize;
    fn getpid() -> core::ffi::c_int;
}

/// The thread pointer: the address of glibc's data about the calling thread, at the upper end of
/// the stack on which it was started.
fn thread_pointer() -> usize {
    let at: usize;
    // SAFETY: the word at 16 is the thread pointer itself, by the ABI's thread-local storage.
    unsafe {
        core::arch::asm!("mov {}, fs:[16]", out(reg) at, options(nostack, readonly, preserves_flags))
    };
    at
}

fn own_tid() -> u32 {
    // SAFETY: within the C library's structure, which has more than 1000 bytes.
    unsafe { *((thread_pointer() + TID_AT) as *const u32) }
}

/// The kernel's id of the calling thread; 0 if it cannot be read cheaply.
pub(crate) fn tid() -> u32 {
    match KNOWS_TID.load(Ordering::Relaxed) {
        true => own_tid(),
        false => 0,
    }
}

/// Called at the start, on the main thread.
pub(super) fn look() {
    // SAFETY: getpid has no preconditions; the loader set the variable before any code ran.
    let (pid, top) = unsafe { (getpid(), __libc_stack_end) };
    KNOWS_TID.store(own_tid() == pid as u32, Ordering::Relaxed);
    MAIN.store(pid as usize, Ordering::Relaxed);
    MAIN_TOP.store(top, Ordering::Relaxed);
}

/// The end of the stack that contains `frame`, if that is the calling thread's own.
fn top(frame: usize) -> Option<usize> {
    let tid = tid();
    if tid == 0 {
        return None;
    }
    let top = match tid as usize == MAIN.load(Ordering::Relaxed) {
        true => MAIN_TOP.load(Ordering::Relaxed),
        false => thread_pointer(),
    };
    (frame < top && top - frame <= MAX_STACK_BYTES).then_some(top)
}

/// The return addresses from the frame whose frame pointer is `frame`, as far as the callers keep
/// frame pointers.
///
/// # Safety
/// `frame` points to a saved frame pointer with a return address behind it.
pub(crate) unsafe fn walk(frame: *const usize, to: &mut [usize; MAX_FRAMES]) -> usize {
    let top = top(frame as usize);
    let mut at = frame as usize;
    let mut count = 0;
    while let Some(slot) = to.get_mut(count) {
        // SAFETY: the caller's frame, or two words between it and the end of the same stack.
        let (next, address) = unsafe { (*(at as *const usize), *((at + 8) as *const usize)) };
        if address < 4096 {
            break;
        }
        *slot = address;
        count += 1;
        let is_frame = next > at && next - at <= MAX_FRAME_BYTES && next.is_multiple_of(8);
        match top {
            Some(top) if is_frame && next + 16 <= top => at = next,
            _ => break,
        }
    }
    count
}
