//! The trace's data about libgomp's threads as a whole: one pool for each copy of libgomp, and the
//! runtime's name.

use std::sync::atomic::{AtomicBool, Ordering};

use workspan_recorder::adapter::LiveHandle;

use super::next_symbol;
use crate::runtimes::{Instance, note};

/// Notes the runtime's name, at the first call.
pub(super) fn note_runtime() {
    static TOLD: AtomicBool = AtomicBool::new(false);
    if !TOLD.load(Ordering::Relaxed) && !TOLD.swap(true, Ordering::Relaxed) {
        note("runtime", "GNU OpenMP (libgomp)");
        note("steals", "child");
    }
}

/// Makes the calling thread, which runs a task of a team, a worker of the runtime's pool.
pub(super) fn join(h: LiveHandle, runtime: *const Instance) {
    if !h.is_worker()
        && let Some(runtime) = next_symbol::instance(runtime)
    {
        let index = runtime.workers.fetch_add(1, Ordering::Relaxed);
        h.become_worker(runtime.pool(), index);
    }
}
