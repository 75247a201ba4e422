//! Memory for long columns that is reused.
//!
//! A run of 10^7 tasks has a gigabyte of columns, which are made and dropped one after the other.
//! The system allocator gives each back to the kernel and asks for the next, which comes page by
//! page and cleared: that took as long as all the reading and measuring. So large blocks lie in one
//! stretch of addresses, where freed memory serves the next block. Huge pages were tried and cost
//! four times as much as small ones in a virtual machine, so they are not used.

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator, except for blocks of [`MIN_ARENA_BYTES`] and more. For a program's
/// `#[global_allocator]`.
#[derive(Debug, Clone, Copy, Default)]
pub struct ColumnMemory;

/// Minimum size in bytes of a block in the arena. Smaller blocks come from the system's allocator.
pub const MIN_ARENA_BYTES: usize = 1 << 20;

#[cfg(target_os = "linux")]
mod arena;

#[cfg(target_os = "linux")]
use arena::ARENA;

#[cfg(not(target_os = "linux"))]
mod none;
#[cfg(not(target_os = "linux"))]
use none::ARENA;

/// Gives free memory back to the kernel, for a program that has read its run and keeps running.
/// Later blocks come page by page again.
pub fn give_back() {
    ARENA.give_back();
    trim();
}

/// Gives back the free memory of the system's allocator.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn trim() {
    unsafe extern "C" {
        fn malloc_trim(pad: usize) -> i32;
    }
    // SAFETY: the C library's own, which any thread may call at any time; it touches nothing that
    // is in use.
    unsafe { malloc_trim(0) };
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn trim() {}

fn is_large(layout: &Layout) -> bool {
    layout.size() >= MIN_ARENA_BYTES && layout.align() <= 4096
}

// SAFETY: the address of a block tells whether it is the arena's or the system allocator's, and it
// is freed and resized there. A block that moves from one to the other is copied.
unsafe impl GlobalAlloc for ColumnMemory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_large(&layout)
            && let Some(block) = ARENA.alloc(layout.size())
        {
            return block.at;
        }
        // SAFETY: the caller's promises are the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if is_large(&layout)
            && let Some(block) = ARENA.alloc(layout.size())
        {
            if !block.is_zero {
                // SAFETY: the block has that size and no other owner.
                unsafe { block.at.write_bytes(0, layout.size()) };
            }
            return block.at;
        }
        // SAFETY: the caller's promises are the same.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if ARENA.holds(block) {
            ARENA.free(block, layout.size());
        } else {
            // SAFETY: the caller's promises are the same.
            unsafe { System.dealloc(block, layout) }
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new: usize) -> *mut u8 {
        let ours = ARENA.holds(block);
        if ours && ARENA.resize(block, layout.size(), new) {
            return block;
        }
        // SAFETY: the caller promises that the size is one a layout can have.
        let to = unsafe { Layout::from_size_align_unchecked(new, layout.align()) };
        if !ours && !is_large(&to) {
            // SAFETY: the caller's promises are the same.
            return unsafe { System.realloc(block, layout, new) };
        }
        // SAFETY: the new block does not overlap the old one, and both hold what is copied; the old
        // one is given up when there is a new one.
        unsafe {
            let moved = self.alloc(to);
            if !moved.is_null() {
                std::ptr::copy_nonoverlapping(block, moved, layout.size().min(new));
                self.dealloc(block, layout);
            }
            moved
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks that grow and shrink across the border between the two allocators keep their content.
    #[test]
    fn what_a_block_holds_stays_in_it() {
        let large = 8 * MIN_ARENA_BYTES;
        let sizes = [
            100,
            MIN_ARENA_BYTES - 1,
            MIN_ARENA_BYTES,
            large,
            MIN_ARENA_BYTES + 1,
            4096,
            2 * large,
            large,
        ];
        let layout = |size| Layout::from_size_align(size, 8).expect("a layout");
        // SAFETY: every block is used within its last requested size, and given back with it.
        unsafe {
            let mut size = 64;
            let mut block = ColumnMemory.alloc(layout(size));
            assert!(!block.is_null());
            for i in 0..size {
                *block.add(i) = i as u8;
            }
            for new in sizes {
                block = ColumnMemory.realloc(block, layout(size), new);
                assert!(!block.is_null());
                size = new;
                *block.add(size - 1) = if size > 64 { 7 } else { (size - 1) as u8 };
                for i in 0..64 {
                    assert_eq!(*block.add(i), i as u8, "{i} of {size} bytes");
                }
            }
            ColumnMemory.dealloc(block, layout(size));
        }
    }

    /// Every byte of a zeroed block is 0 also where an earlier block left something.
    #[test]
    fn used_memory_is_cleared() {
        let layout = Layout::from_size_align(3 * MIN_ARENA_BYTES + 12_345, 8).expect("a layout");
        for _ in 0..4 {
            // SAFETY: the block is used within its size and given back with its layout.
            unsafe {
                let block = ColumnMemory.alloc_zeroed(layout);
                assert!(!block.is_null() && block.is_aligned());
                let bytes = std::slice::from_raw_parts_mut(block, layout.size());
                assert!(bytes.iter().all(|&b| b == 0));
                bytes.fill(0xA5);
                ColumnMemory.dealloc(block, layout);
            }
        }
    }

    /// Blocks in use keep their content when free memory is given back. The freed ones come back
    /// cleared or are overwritten.
    #[test]
    fn what_is_given_back_was_free() {
        let layout = Layout::from_size_align(2 * MIN_ARENA_BYTES, 8).expect("a layout");
        // SAFETY: each block is used within its size while it has no other owner, and given back
        // once with its layout.
        unsafe {
            let (kept, gone) = (ColumnMemory.alloc(layout), ColumnMemory.alloc(layout));
            assert!(!kept.is_null() && !gone.is_null());
            kept.write_bytes(0x5A, layout.size());
            gone.write_bytes(0xA5, layout.size());
            ColumnMemory.dealloc(gone, layout);
            give_back();
            let bytes = std::slice::from_raw_parts(kept, layout.size());
            assert!(bytes.iter().all(|&b| b == 0x5A));
            let again = ColumnMemory.alloc_zeroed(layout);
            let bytes = std::slice::from_raw_parts_mut(again, layout.size());
            assert!(bytes.iter().all(|&b| b == 0));
            ColumnMemory.dealloc(again, layout);
            ColumnMemory.dealloc(kept, layout);
        }
    }

    #[test]
    fn more_than_there_is_is_refused() {
        let layout = Layout::from_size_align(isize::MAX as usize - 4096, 8).expect("a layout");
        // SAFETY: a block that is refused is null and is not used.
        assert!(unsafe { ColumnMemory.alloc(layout) }.is_null());
    }
}
