//! The chunks of a thread if only parts of the run are kept ([`crate::chunk_queue`]).

use super::Owner;
use crate::chunk_queue;
use crate::process::Recording;
use crate::spool::MappedChunk;
use workspan_trace::thread_state::ThreadState;

/// The state of a thread where its chunk begins.
pub(super) struct BaseState {
    open: Box<ThreadState>,
    /// The time from which the chunk's records count, in ticks.
    base: u64,
}

impl BaseState {
    /// For a thread that begins, with nothing open.
    pub(super) fn new(base: u64) -> BaseState {
        BaseState {
            open: Box::default(),
            base,
        }
    }
}

/// Applies a chunk's records to the state with which the next chunk begins.
pub(super) fn pass(owner: &mut Owner, chunk: &MappedChunk) {
    if let Some(at) = &mut owner.at_base {
        chunk_queue::pass(&mut at.open, chunk, at.base);
    }
}

/// Writes the open state into the handle's empty chunk, unless it is the thread's first one.
pub(super) fn restart(owner: &mut Owner) {
    let Some(at) = &mut owner.at_base else {
        return;
    };
    at.base = owner.handle.last;
    if owner.chunks > 1 {
        // SAFETY: the handle is the calling thread's; its chunk is empty.
        unsafe { chunk_queue::restart(&raw mut owner.handle, &at.open) };
    }
}

/// Seals a chunk that is no longer written to and whose last record is at time `last`. If only
/// parts are kept, it may be reused.
///
/// # Safety
/// The chunk belongs to the calling thread only, which does not use it afterwards.
pub(super) unsafe fn seal(recording: &Recording, chunk: MappedChunk, last: u64) {
    let (from, place) = (chunk.base_ns(), chunk.place());
    // SAFETY: the caller guarantees the chunk.
    unsafe { recording.spool.seal(chunk, false) };
    if let Some(ring) = &recording.ring {
        ring.put(from, recording.ns_at(last), place);
    }
}
