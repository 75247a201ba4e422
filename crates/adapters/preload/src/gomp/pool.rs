//! What the trace says of libgomp's threads as a whole: one pool, and the runtime's name.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use workspan_recorder::front::{Handle, IS_WORKER};
use workspan_recorder::{TABLE, adapter};

static POOL: OnceLock<u32> = OnceLock::new();
static WORKERS: AtomicU64 = AtomicU64::new(0);

/// The pool's number; told with the runtime's name when first asked for.
pub(super) fn number() -> u32 {
    *POOL.get_or_init(|| {
        note("runtime", "GNU OpenMP (libgomp)");
        note("steals", "child");
        (TABLE.pool)()
    })
}

fn note(key: &str, value: &str) {
    (TABLE.note)(key.as_ptr(), key.len(), value.as_ptr(), value.len());
}

/// The calling thread, which runs a team's task, is a worker of the pool from now on.
///
/// # Safety
/// `h` is the calling thread's live handle.
pub(super) unsafe fn join(h: *mut Handle) {
    // SAFETY: the caller's.
    unsafe {
        if (*h).flags & IS_WORKER == 0 {
            let index = WORKERS.fetch_add(1, Ordering::Relaxed);
            adapter::worker(h, number(), index as u32);
        }
    }
}
