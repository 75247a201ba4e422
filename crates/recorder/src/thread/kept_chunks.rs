//! The chunks of a thread if only parts of the run are kept ([`crate::chunk_queue`]).

use super::Owner;
use crate::chunk_queue::{self, ChunkQueue};
use crate::process::Recording;
use crate::spool::MappedChunk;
use workspan_trace::chunk::ChunkHeader;

/// Applies a chunk's records to the state with which the next chunk begins.
pub(super) fn pass(owner: &mut Owner, chunk: &MappedChunk) {
    if let Some(open) = &mut owner.at_base {
        chunk_queue::pass(open, chunk);
    }
}

/// Writes the open state into the handle's empty chunk, unless it is the thread's first one.
pub(super) fn restart(owner: &mut Owner) {
    let Some(open) = &owner.at_base else {
        return;
    };
    if owner.chunks > 1 {
        // SAFETY: the handle is the calling thread's; its chunk is empty.
        unsafe { chunk_queue::restart(&raw mut owner.handle, open) };
    }
}

/// Empties a full chunk, after its contents were written to the end of the queue. Returns false,
/// with the chunk unchanged, if that could not be done.
///
/// # Safety
/// The chunk belongs to the calling thread only.
pub(super) unsafe fn move_out(
    recording: &Recording,
    ring: &ChunkQueue,
    chunk: MappedChunk,
    next: ChunkHeader,
) -> bool {
    let (from, to) = (chunk.base_ns(), next.base_ns);
    // SAFETY: the caller guarantees the chunk; chunks of a ring have mappings of their own.
    let place = unsafe { recording.spool.move_out(chunk, next, || ring.take(to)) };
    if let Some(place) = place {
        ring.put(from, to, place);
    }
    place.is_some()
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
