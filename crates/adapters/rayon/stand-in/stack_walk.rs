//! Walks the call stack with a table of frame sizes, which is faster than with unwind information.
//!
//! In code without frames of variable size, which includes all Rust code, the distance on the stack
//! from one return address to its caller's depends only on the address. So `_Unwind_Backtrace`
//! (about 2 µs) runs once for each new return address, and its result is kept as a *step*: a return
//! address and the distance to the next. From then on a walk is one table lookup and one load per
//! frame.
//!
//! If the distance of a frame varies, the frame is marked, and stacks through it are always
//! unwound. The target of every step is checked: a return address that is not in the table ends the
//! fast walk. No load leaves the part of the stack that an unwinding has walked before.
//!
//! On processors other than x86-64 each walk is an unwinding.

use crate::recording::ThreadState;
use std::os::raw::{c_int, c_void};

/// Maximum number of frames kept of a stack, innermost first.
pub(crate) const MAX_FRAMES: usize = 64;

extern "C" {
    fn _Unwind_Backtrace(
        callback: extern "C" fn(*mut c_void, *mut c_void) -> c_int,
        argument: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIP(context: *mut c_void) -> usize;
    fn _Unwind_GetCFA(context: *mut c_void) -> usize;
}

/// The result of an unwinding: code address and stack pointer of each frame, innermost first.
struct StackWalk {
    frames: [(usize, usize); MAX_FRAMES + 8],
    count: usize,
    /// Whether it reached the end of the stack.
    whole: bool,
}

extern "C" fn visit(context: *mut c_void, walk: *mut c_void) -> c_int {
    // SAFETY: `walk` is the `StackWalk` passed to `_Unwind_Backtrace`, and `context` is the
    // unwinder's.
    let (walk, ip, sp) = unsafe {
        (
            &mut *walk.cast::<StackWalk>(),
            _Unwind_GetIP(context),
            _Unwind_GetCFA(context),
        )
    };
    if walk.count == walk.frames.len() {
        walk.whole = false;
        return 5; // _URC_END_OF_STACK
    }
    walk.frames[walk.count] = (ip, sp);
    walk.count += 1;
    0
}

#[inline(never)]
fn unwind() -> StackWalk {
    let mut walk = StackWalk {
        frames: [(0, 0); MAX_FRAMES + 8],
        count: 0,
        whole: true,
    };
    // SAFETY: the callback gets the type that it expects.
    unsafe { _Unwind_Backtrace(visit, (&mut walk as *mut StackWalk).cast()) };
    walk
}

/// Writes the return addresses of frames into `frames`, innermost first, and returns their number.
/// It begins with the caller of the caller and stops at the stack address `bottom`.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
pub(crate) fn capture(thread: &ThreadState, bottom: usize, frames: &mut [usize]) -> usize {
    let stack_pointer: usize;
    // SAFETY: reads a register.
    unsafe {
        core::arch::asm!("mov {}, rsp", out(reg) stack_pointer, options(nomem, nostack, preserves_flags))
    };
    if let Some(count) = steps::walk(thread, stack_pointer, bottom, frames) {
        return count;
    }
    let walk = unwind();
    steps::learn(thread, stack_pointer, &walk);
    copy(&walk, stack_pointer, bottom, frames)
}

/// Like the above, using only unwinding.
#[cfg(not(target_arch = "x86_64"))]
#[inline(never)]
pub(crate) fn capture(_thread: &ThreadState, bottom: usize, frames: &mut [usize]) -> usize {
    let local = 0u8;
    copy(&unwind(), &local as *const u8 as usize, bottom, frames)
}

/// Copies the frames above `capture`'s caller.
fn copy(walk: &StackWalk, stack_pointer: usize, bottom: usize, frames: &mut [usize]) -> usize {
    let seen = &walk.frames[..walk.count];
    // `capture`'s own frame is the last at or below its stack pointer. The next is its caller's.
    // Both are omitted.
    let own = seen
        .iter()
        .take_while(|&&(_, sp)| sp <= stack_pointer)
        .count();
    let mut count = 0;
    for &(ip, sp) in seen.iter().skip(own + 1) {
        // The frame in which the task began may have `bottom` at its very end, where its stack
        // pointer is.
        if sp > bottom || count == frames.len() {
            break;
        }
        frames[count] = ip;
        count += 1;
    }
    count
}

#[cfg(target_arch = "x86_64")]
mod steps {
    use super::StackWalk;
    use crate::recording::ThreadState;
    use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

    /// A step in one word, so that threads share the table without locks: return address << 17 |
    /// distance in words. Distance 0 is the outermost frame. `VARIES`: the distance is not fixed.
    static STEPS: [AtomicU64; 4096] = [const { AtomicU64::new(0) }; 4096];
    const DISTANCE_BITS: u32 = 17;
    const VARIES: usize = (1 << DISTANCE_BITS) - 1;

    /// Distance from `capture`'s stack pointer to its own return address, in bytes; 0 before the
    /// first unwinding.
    static OWN: AtomicUsize = AtomicUsize::new(0);

    fn cell(address: usize) -> &'static AtomicU64 {
        let mixed = (address as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        &STEPS[(mixed >> 52) as usize]
    }

    /// Walks by the table; `None` if the table has a gap.
    pub(super) fn walk(
        thread: &ThreadState,
        stack_pointer: usize,
        bottom: usize,
        frames: &mut [usize],
    ) -> Option<usize> {
        let own = OWN.load(Ordering::Relaxed);
        let top = thread.stack_top.get();
        if own == 0 {
            return None;
        }
        let mut slot = stack_pointer + own;
        let mut count = 0;
        let mut callers = false;
        loop {
            if slot >= bottom {
                return Some(count);
            }
            if slot > top {
                return None;
            }
            // SAFETY: between our stack pointer and an address on this stack where an unwinding
            // found a frame; aligned, because all distances are whole words.
            let address = unsafe { *(slot as *const usize) };
            // The first return address is in `capture`'s caller, which is omitted.
            if callers {
                if count == frames.len() {
                    return Some(count);
                }
                frames[count] = address;
                count += 1;
            }
            callers = true;
            let step = cell(address).load(Ordering::Relaxed);
            if step >> DISTANCE_BITS != address as u64 {
                return None;
            }
            match step as usize & VARIES {
                0 => return Some(count),
                VARIES => return None,
                words => slot += words * 8,
            }
        }
    }

    /// Adds the steps of an unwinding to the table.
    pub(super) fn learn(thread: &ThreadState, stack_pointer: usize, walk: &StackWalk) {
        let seen = &walk.frames[..walk.count];
        let Some(own) = seen.iter().position(|&(_, sp)| sp > stack_pointer) else {
            return;
        };
        // A frame's return address is just below the stack pointer that its caller will have. At a
        // frame for which that does not hold, such as a signal's, learning ends.
        let slot_of = |&(ip, sp): &(usize, usize)| {
            let slot = sp.wrapping_sub(8);
            // SAFETY: between our stack pointer and the outermost frame that the unwinding walked.
            (slot % 8 == 0 && slot >= stack_pointer && unsafe { *(slot as *const usize) } == ip)
                .then_some(slot)
        };
        let Some(first) = slot_of(&seen[own]) else {
            return;
        };
        let distance = first - stack_pointer;
        OWN.store(distance, Ordering::Relaxed);
        let mut slot = first;
        for (i, &(ip, _)) in seen.iter().enumerate().skip(own) {
            let next = seen.get(i + 1).and_then(slot_of);
            let words = match next {
                Some(next) if next > slot && (next - slot) / 8 < VARIES => (next - slot) / 8,
                Some(_) => VARIES,
                None if i + 1 == seen.len() && walk.whole => 0,
                None if i + 1 == seen.len() => return,
                None => VARIES,
            };
            let cell = cell(ip);
            let old = cell.load(Ordering::Relaxed);
            let known = old >> DISTANCE_BITS == ip as u64;
            let words = if known && old as usize & VARIES != words {
                VARIES
            } else {
                words
            };
            cell.store(
                (ip as u64) << DISTANCE_BITS | words as u64,
                Ordering::Relaxed,
            );
            let Some(next) = next else { return };
            if next > thread.stack_top.get() {
                thread.stack_top.set(next);
            }
            slot = next;
        }
    }
}
