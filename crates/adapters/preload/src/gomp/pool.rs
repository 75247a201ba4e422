//! What the trace says of libgomp's threads as a whole: a pool for each copy of it, and the runtime's name.

use std::sync::atomic::{AtomicBool, Ordering};

use workspan_recorder::adapter::LiveHandle;

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
pub(super) fn join(h: LiveHandle, runtime: *const Instance) {
    if !h.is_worker()
        && let Some(runtime) = next_symbol::instance(runtime)
    {
        let index = runtime.workers.fetch_add(1, Ordering::Relaxed);
        h.become_worker(runtime.pool(), index);
    }
}
