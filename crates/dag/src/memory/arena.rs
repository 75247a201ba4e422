//! One stretch of addresses for large blocks.
//!
//! Blocks are carved from the smallest free range that holds them, so that memory the process has
//! already is used first. If none does, the block comes from the untouched rest, and as much free
//! memory is given back to the kernel. So the process holds little more than it uses.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous};

/// Size of the reserved address range in bytes; only touched addresses take memory.
const RESERVED_BYTES: usize = 1 << 38;
/// Size granularity of blocks in bytes: a multiple of every page size that Linux has.
const BLOCK_GRAIN_BYTES: usize = 64 << 10;
/// Maximum number of free ranges; a run's columns leave a few dozen.
const MAX_FREE_RANGES: usize = 512;

/// The process's arena.
pub(super) static ARENA: Arena = Arena {
    base: AtomicUsize::new(UNKNOWN),
    ranges: Mutex::new(Ranges {
        base: UNKNOWN,
        top: 0,
        free: [Free::NONE; MAX_FREE_RANGES],
        count: 0,
    }),
};

/// No memory was requested yet.
const UNKNOWN: usize = 0;
/// The kernel refuses a range of that size.
const REFUSED: usize = 1;

pub(super) struct Arena {
    /// A copy of the base in `ranges` that is read without the lock.
    base: AtomicUsize,
    ranges: Mutex<Ranges>,
}

/// A block just carved.
pub(super) struct Block {
    pub at: *mut u8,
    /// Its memory was never used before.
    pub is_zero: bool,
}

#[derive(Clone, Copy)]
struct Free {
    at: usize,
    length: usize,
    /// The range may hold memory.
    resident: bool,
}

impl Free {
    const NONE: Free = Free {
        at: 0,
        length: 0,
        resident: false,
    };

    fn end(self) -> usize {
        self.at + self.length
    }
}

struct Ranges {
    base: usize,
    /// Addresses from here on were never used.
    top: usize,
    /// The free ranges by address, apart from each other, all below `top`.
    free: [Free; MAX_FREE_RANGES],
    count: usize,
}

fn rounded(size: usize) -> Option<usize> {
    let length = size.checked_next_multiple_of(BLOCK_GRAIN_BYTES)?;
    (length <= RESERVED_BYTES).then_some(length)
}

impl Arena {
    fn lock(&self) -> MutexGuard<'_, Ranges> {
        // Nothing in this module panics while it changes the ranges.
        self.ranges
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Allocates a block; `None` if the arena has no room.
    pub(super) fn alloc(&self, size: usize) -> Option<Block> {
        let length = rounded(size)?;
        let mut ranges = self.lock();
        if ranges.base == UNKNOWN {
            ranges.base = reserve().unwrap_or(REFUSED);
            ranges.top = ranges.base;
            self.base.store(ranges.base, Ordering::Release);
        }
        if ranges.base == REFUSED {
            return None;
        }
        let (at, is_zero) = match ranges.best(length) {
            Some(i) => (ranges.take(i, length), false),
            None => ranges.grow(length)?,
        };
        Some(Block {
            at: std::ptr::with_exposed_provenance_mut(at),
            is_zero,
        })
    }

    /// Gives all memory that is free back to the kernel.
    pub(super) fn give_back(&self) {
        self.lock().release(usize::MAX);
    }

    /// True for a block of this arena.
    pub(super) fn holds(&self, block: *mut u8) -> bool {
        let base = self.base.load(Ordering::Acquire);
        base > REFUSED && (base..base + RESERVED_BYTES).contains(&block.addr())
    }

    /// Takes a block of this arena back.
    pub(super) fn free(&self, block: *mut u8, size: usize) {
        if let Some(length) = rounded(size) {
            self.lock().give(block.addr(), length);
        }
    }

    /// Makes a block of this arena larger or smaller in place; false if that is not possible.
    pub(super) fn resize(&self, block: *mut u8, size: usize, new: usize) -> bool {
        let (Some(old), Some(new)) = (rounded(size), rounded(new)) else {
            return false;
        };
        // A small block belongs to the system's allocator.
        if new < super::MIN_ARENA_BYTES {
            return false;
        }
        let end = block.addr() + old;
        if new <= old {
            if new < old {
                self.lock().give(block.addr() + new, old - new);
            }
            return true;
        }
        let more = new - old;
        let mut ranges = self.lock();
        let next = ranges.free[..ranges.count].binary_search_by_key(&end, |f| f.at);
        match next {
            Ok(i) if ranges.free[i].length >= more => {
                ranges.take(i, more);
                true
            }
            _ if end == ranges.top && new <= ranges.base + RESERVED_BYTES - block.addr() => {
                ranges.top += more;
                true
            }
            _ => false,
        }
    }
}

impl Ranges {
    /// The free range that fits best: ranges with memory first, then the smallest.
    fn best(&self, length: usize) -> Option<usize> {
        let fits = (0..self.count).filter(|&i| self.free[i].length >= length);
        fits.min_by_key(|&i| (!self.free[i].resident, self.free[i].length))
    }

    /// Takes the first `length` bytes of free range `i`.
    fn take(&mut self, i: usize, length: usize) -> usize {
        let range = &mut self.free[i];
        let at = range.at;
        range.at += length;
        range.length -= length;
        if range.length == 0 {
            self.remove(i);
        }
        at
    }

    fn remove(&mut self, i: usize) {
        self.free.copy_within(i + 1..self.count, i);
        self.count -= 1;
    }

    /// Takes `length` bytes at `top`, and returns whether they are untouched.
    fn grow(&mut self, length: usize) -> Option<(usize, bool)> {
        let last = self.count.checked_sub(1).map(|i| self.free[i]);
        let last = last.filter(|f| f.end() == self.top);
        let at = last.map_or(self.top, |f| f.at);
        if length > self.base + RESERVED_BYTES - at {
            return None;
        }
        if last.is_some() {
            self.count -= 1;
        }
        let more = at + length - self.top;
        self.top = at + length;
        self.release(more);
        Some((at, last.is_none()))
    }

    /// Gives memory of free ranges back to the kernel, the largest first, until it adds up to
    /// `bytes`.
    fn release(&mut self, bytes: usize) {
        let mut done = 0;
        while done < bytes {
            let resident = (0..self.count).filter(|&i| self.free[i].resident);
            let Some(i) = resident.max_by_key(|&i| self.free[i].length) else {
                return;
            };
            let range = &mut self.free[i];
            range.resident = false;
            done += range.length;
            let at = std::ptr::with_exposed_provenance_mut::<u8>(range.at);
            // SAFETY: a free range is not in use, so its content may go. If the kernel refuses, it
            // stays as it is.
            let _ = unsafe { madvise(at.cast(), range.length, Advice::LinuxDontNeed) };
        }
    }

    fn give(&mut self, at: usize, length: usize) {
        let i = self.free[..self.count].partition_point(|f| f.at < at);
        let mut new = Free {
            at,
            length,
            resident: true,
        };
        let after = i < self.count && new.end() == self.free[i].at;
        if after {
            new.length += self.free[i].length;
        }
        let before = i > 0 && self.free[i - 1].end() == new.at;
        if before {
            new.at = self.free[i - 1].at;
            new.length += self.free[i - 1].length;
        }
        match (before, after) {
            (true, true) => {
                self.free[i - 1] = new;
                self.remove(i);
            }
            (true, false) => self.free[i - 1] = new,
            (false, true) => self.free[i] = new,
            // The addresses are lost, of which there are enough; the memory is not.
            (false, false) if self.count == MAX_FREE_RANGES => {
                let at = std::ptr::with_exposed_provenance_mut::<u8>(at);
                // SAFETY: the range was just freed and is not in use.
                let _ = unsafe { madvise(at.cast(), length, Advice::LinuxDontNeed) };
            }
            (false, false) => {
                self.free.copy_within(i..self.count, i + 1);
                self.free[i] = new;
                self.count += 1;
            }
        }
    }
}

/// Reserves the address range.
fn reserve() -> Option<usize> {
    let (access, flags) = (
        ProtFlags::READ | ProtFlags::WRITE,
        MapFlags::PRIVATE | MapFlags::NORESERVE,
    );
    // SAFETY: a new mapping wherever the kernel likes touches nothing that exists.
    let at = unsafe { mmap_anonymous(null_mut(), RESERVED_BYTES, access, flags) }.ok()?;
    Some(at.expose_provenance())
}
