//! The chunks of a thread of which parts are kept only ([`crate::ring`]).

use super::Owner;
use crate::process::Recording;
use crate::ring;
use crate::spool::Mapped;
use workspan_trace::thread_state::ThreadState;

/// What a thread has open where its chunk begins.
pub(super) struct AtBase {
    open: Box<ThreadState>,
    /// What the chunk's records count from, in ticks.
    base: u64,
}

impl AtBase {
    /// Of a thread that begins, with nothing open.
    pub(super) fn new(base: u64) -> AtBase {
        AtBase {
            open: Box::default(),
            base,
        }
    }
}

/// Goes past a chunk's records, which the next chunk then begins with the sum of.
pub(super) fn pass(owner: &mut Owner, chunk: &Mapped) {
    if let Some(at) = &mut owner.at_base {
        ring::pass(&mut at.open, chunk, at.base);
    }
}

/// The chunk that the handle writes to is empty: what is open comes first, unless it is the
/// thread's first one.
pub(super) fn restart(owner: &mut Owner) {
    let Some(at) = &mut owner.at_base else {
        return;
    };
    at.base = owner.handle.last;
    if owner.chunks > 1 {
        // SAFETY: the handle is the calling thread's; its chunk is empty.
        unsafe { ring::restart(&raw mut owner.handle, &at.open) };
    }
}

/// Nobody writes to the chunk any more, whose last record is of the time `last`. Where parts are
/// kept only, it may serve again.
///
/// # Safety
/// The chunk is the calling thread's alone, which does not use it afterwards.
pub(super) unsafe fn seal(recording: &Recording, chunk: Mapped, last: u64) {
    let (from, place) = (chunk.base_ns(), chunk.place());
    // SAFETY: the caller's.
    unsafe { recording.spool.seal(chunk, false) };
    if let Some(ring) = &recording.ring {
        ring.put(from, recording.ns_at(last), place);
    }
}
