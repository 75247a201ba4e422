//! Measures the memory allocated while a file is read, which must be proportional to the file's
//! size.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, with counters.
struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

fn grown(by: usize) {
    let live = LIVE.fetch_add(by, Relaxed) + by;
    PEAK.fetch_max(live, Relaxed);
}

// SAFETY: every call goes to the system allocator; only counters are added.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grown(layout.size());
        // SAFETY: the caller passes a valid layout.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        grown(layout.size());
        // SAFETY: the caller passes a valid layout.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller got `at` from the system allocator, with this layout.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // The old and the new block exist while the contents are copied.
        grown(size);
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller got `at` from the system allocator, with this layout.
        unsafe { System.realloc(at, layout, size) }
    }
}

/// The memory allowed at once for any input, in bytes: tables, buffers and the figures of a report.
const BASE: usize = 8 << 20;
/// The additional memory allowed for each byte of the input. The shortest record has one byte, and
/// stands for a strand, its task and a report's data about both.
const FOR_EACH_BYTE: usize = 2 << 10;

/// Runs `read`, whose input has `length` bytes.
///
/// # Panics
/// If more memory was allocated at any moment than is allowed for such an input.
pub fn within<T>(length: usize, read: impl FnOnce() -> T) -> T {
    let before = LIVE.load(Relaxed);
    PEAK.store(before, Relaxed);
    let result = read();
    let used = PEAK.load(Relaxed).saturating_sub(before);
    let most = BASE + FOR_EACH_BYTE * length;
    assert!(
        used <= most,
        "{used} bytes were allocated for an input of {length}, {most} at most go with it"
    );
    result
}
