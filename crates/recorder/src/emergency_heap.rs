//! Emergency memory: the recorder must not end a program that could continue without memory.
//!
//! Rust's standard library ends the process when an allocation fails. The preloaded library's
//! allocator falls back to memory reserved for that. From then on the recorder extends the file no
//! further, records no new threads and interns nothing new, so that the reserve is enough for
//! operations in progress.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::alloc::System;

const SIZE: usize = 512 << 10;

#[repr(align(64))]
struct Arena(UnsafeCell<[u8; SIZE]>);

// SAFETY: an atomic count hands out each piece of it once.
unsafe impl Sync for Arena {}

static ARENA: Arena = Arena(UnsafeCell::new([0; SIZE]));
static USED: AtomicUsize = AtomicUsize::new(0);
static TOUCHED: AtomicBool = AtomicBool::new(false);

/// Whether an allocation has failed.
pub(crate) fn is_touched() -> bool {
    TOUCHED.load(Ordering::Relaxed)
}

/// The allocator: the system's, or the reserve if the system has no memory left.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reserved;

fn in_reserve(at: *mut u8) -> bool {
    let start = ARENA.0.get() as usize;
    (start..start + SIZE).contains(&(at as usize))
}

/// Frees a piece if it is the last one, as temporary memory of a call usually is.
fn give_back(at: *mut u8, layout: Layout) {
    let from = at as usize - ARENA.0.get() as usize;
    let end = from + layout.size();
    let _ = USED.compare_exchange(end, from, Ordering::AcqRel, Ordering::Relaxed);
}

/// A piece of the reserve; null if the reserve is used up, too.
fn piece(layout: Layout) -> *mut u8 {
    TOUCHED.store(true, Ordering::Relaxed);
    let (size, align) = (layout.size(), layout.align());
    if size > SIZE || align > 64 {
        return ptr::null_mut();
    }
    let mut from = 0;
    let taken = USED.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |used| {
        from = used.next_multiple_of(align);
        Some(from + size).filter(|&end| end <= SIZE)
    });
    match taken {
        // SAFETY: within the arena.
        Ok(_) => unsafe { ARENA.0.get().cast::<u8>().add(from) },
        Err(_) => ptr::null_mut(),
    }
}

// SAFETY: each piece is the system's or a piece of the arena that was handed out only once, with
// the requested size and alignment.
unsafe impl GlobalAlloc for Reserved {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's layout.
        let at = unsafe { System.alloc(layout) };
        if at.is_null() { piece(layout) } else { at }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's layout.
        let at = unsafe { System.alloc_zeroed(layout) };
        if !at.is_null() {
            return at;
        }
        let at = piece(layout);
        if !at.is_null() {
            // SAFETY: the piece is that large.
            unsafe { at.write_bytes(0, layout.size()) };
        }
        at
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        if in_reserve(at) {
            give_back(at, layout);
        } else {
            // SAFETY: it came from the system.
            unsafe { System.dealloc(at, layout) }
        }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        let ours = in_reserve(at);
        if !ours {
            // SAFETY: it came from the system.
            let grown = unsafe { System.realloc(at, layout, new_size) };
            if !grown.is_null() {
                return grown;
            }
        }
        // SAFETY: the caller passes a valid layout of that size; both pieces hold the bytes copied.
        unsafe {
            let new = piece(Layout::from_size_align_unchecked(new_size, layout.align()));
            if !new.is_null() {
                ptr::copy_nonoverlapping(at, new, layout.size().min(new_size));
                self.dealloc(at, layout);
            }
            new
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_has_not_comes_from_the_reserve() {
        let huge = Layout::from_size_align(usize::MAX / 4, 8).expect("a layout");
        // SAFETY: the layouts are those of the pieces.
        unsafe {
            // miri stops if an allocation fails.
            if !cfg!(miri) {
                // An allocation whose result is not used may be optimised away, and would then
                // succeed.
                let none = std::hint::black_box(Reserved.alloc(std::hint::black_box(huge)));
                assert!(none.is_null(), "more than there is");
                assert!(is_touched());
            }
            let small = Layout::from_size_align(100, 32).expect("a layout");
            let (one, two) = (piece(small), piece(small));
            assert!(in_reserve(one) && in_reserve(two) && (one as usize).is_multiple_of(32));
            assert!(two as usize - one as usize >= 100);
            one.write_bytes(7, 100);
            let grown = Reserved.realloc(one, small, 1000);
            assert!(in_reserve(grown) && *grown.add(99) == 7);
            Reserved.dealloc(grown, Layout::from_size_align_unchecked(1000, 32));
            Reserved.dealloc(two, small);
            let used = USED.load(Ordering::Relaxed);
            Reserved.dealloc(piece(small), small);
            Reserved.dealloc(piece(small), small);
            assert!(USED.load(Ordering::Relaxed) <= used + 64, "given back");
            let heap = Reserved.alloc(small);
            assert!(!heap.is_null() && !in_reserve(heap));
            Reserved.dealloc(heap, small);
        }
    }
}
