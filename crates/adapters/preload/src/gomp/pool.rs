//! What the trace says of libgomp's threads as a whole: a pool for each copy of it, and the runtime's name.

use std::sync::atomic::{AtomicBool, Ordering};

use workspan_recorder::adapter;
use workspan_recorder::front::{Handle, IS_WORKER};

use super::next_symbol;
use crate::runtimes::{Instance, note};

/// Tells the runtime's name when first called.
pub(super) fn note_runtime() {
    static TOLD: AtomicBool = AtomicBool::new(false);
    if !TOLD.load(Ordering::Relaxed) && !TOLD.swap(true, Ordering::Relaxed) {
        note("runtime", "GNU OpenMP (libgomp)");
        note("steals", "child");
    }
}

/// The calling thread, which runs a task of a team of this runtime's, is a worker of its pool from now on.
///
/// # Safety
/// `h` is the calling thread's live handle.
pub(super) unsafe fn join(h: *mut Handle, runtime: *const Instance) {
    // SAFETY: the caller's.
    unsafe {
        if (*h).flags & IS_WORKER == 0
            && let Some(runtime) = next_symbol::instance(runtime)
        {
            let index = runtime.workers.fetch_add(1, Ordering::Relaxed);
            adapter::worker(h, runtime.pool(), index);
        }
    }
}
