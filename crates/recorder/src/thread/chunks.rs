//! The chunks that a thread writes to, one after the other, and the scratch memory that replaces
//! missing ones.

use core::ptr;
use core::slice;
use core::sync::atomic::Ordering;

use super::readings::{self, READINGS};
use super::{Owner, SCRATCH, folding, kept_chunks, owner_of, revive};
use crate::abi::Handle;
use crate::chunk_folder::MAX_RECORD_BYTES;
use crate::chunk_queue;
use crate::process::{self, Recording};
use crate::spool::MappedChunk;
use crate::system::KeepErrno;
use crate::wire::{self, Kind};
use workspan_trace::chunk::{CHUNK_HEADER_SIZE, ChunkHeader, ChunkKind};

/// Sizes of a thread's first chunks, in bytes. The last one is also the size of all further chunks.
const SIZES: [usize; 3] = [16 << 10, 64 << 10, 256 << 10];

/// The header of the owner's next chunk.
fn next_header(recording: &Recording, owner: &Owner) -> ChunkHeader {
    ChunkHeader {
        kind: ChunkKind::Events as u8,
        flags: 0,
        thread: owner.handle.thread,
        seq: owner.chunks,
        capacity: 0,
        committed: 0,
        base_ticks: owner.handle.last,
        base_ns: recording.ns_at(owner.handle.last),
        checksum: 0,
    }
}

/// Gives the owner a new chunk, or scratch memory.
///
/// # Safety
/// `owner` is the calling thread's and has no chunk.
pub(super) unsafe fn next_chunk(recording: &Recording, owner: *mut Owner) {
    // SAFETY: the caller guarantees the owner.
    let owner = unsafe { &mut *owner };
    let size = match recording.ring {
        Some(_) => chunk_queue::SIZE.max(recording.page),
        None => SIZES[(owner.chunks as usize).min(SIZES.len() - 1)].max(recording.page),
    };
    let header = next_header(recording, owner);
    let old = recording
        .ring
        .as_ref()
        .and_then(|ring| ring.take(header.base_ns));
    let chunk = match (owner.rest.take(), old) {
        (Some(rest), _) => recording.spool.chunk_in(rest, header),
        (None, Some(place)) => recording.spool.chunk_at(place, header),
        (None, None) => recording.spool.chunk(size, header),
    };
    match chunk {
        Some(chunk) => begin(owner, chunk),
        None => use_scratch(owner),
    }
}

/// Makes the handle write to an empty chunk.
fn begin(owner: &mut Owner, chunk: MappedChunk) {
    owner.chunks += 1;
    owner.before.base = owner.handle.last;
    use_chunk(owner, chunk, 0);
    kept_chunks::restart(owner);
}

/// Makes the handle write to a chunk, behind the first `used` bytes.
pub(super) fn use_chunk(owner: &mut Owner, chunk: MappedChunk, used: usize) {
    owner.chunk = Some(chunk);
    let h = &mut owner.handle;
    h.base = chunk.payload();
    // SAFETY: within the chunk, which is larger than SLACK plus the bytes used.
    let limit = unsafe {
        h.cursor = h.base.add(used);
        h.base.add(chunk.capacity() - wire::SLACK)
    };
    h.committed = chunk.committed();
    set_limit(owner, limit);
}

/// The records of a chunk.
///
/// # Safety
/// The chunk is mapped and belongs to the calling thread, which does not write to it while it uses
/// the records.
pub(super) unsafe fn records<'a>(chunk: MappedChunk) -> &'a [u8] {
    let length = chunk.committed().load(Ordering::Relaxed) as usize;
    // SAFETY: the caller guarantees the chunk; its header counts this many bytes.
    unsafe { slice::from_raw_parts(chunk.payload(), length.min(chunk.capacity())) }
}

/// Makes the handle write to scratch memory.
pub(super) fn use_scratch(owner: &mut Owner) {
    let base = owner.scratch.as_mut_ptr();
    let h = &mut owner.handle;
    h.base = base;
    h.cursor = base;
    // SAFETY: within the scratch memory.
    let limit = unsafe { base.add(SCRATCH - wire::SLACK) };
    h.committed = &raw const owner.scratch_committed;
    set_limit(owner, limit);
}

/// Counts the bytes that the handle wrote to scratch memory as dropped.
pub(super) fn count_dropped(recording: &Recording, handle: &Handle) {
    let bytes = handle.cursor as usize - handle.base as usize;
    let dropped = recording.spool.dropped();
    dropped.fetch_add(bytes as u64, Ordering::Relaxed);
}

/// Sets the last address at which a record may begin, and the time from which the counters' records
/// count.
fn set_limit(owner: &mut Owner, limit: *mut u8) {
    owner.limit = limit;
    owner.handle.limit = match &mut owner.counters {
        None => limit,
        Some(open) => {
            open.written = owner.handle.last;
            ptr::null_mut()
        }
    };
}

/// [`crate::abi::Table::refill`].
pub(crate) extern "C" fn refill(handle: *mut Handle) {
    // SAFETY: the handle is the calling thread's and the first field of its owner.
    unsafe {
        if (*handle).table.is_null() {
            revive(handle);
            return;
        }
        let owner = owner_of(handle);
        let Some(open) = &mut (*owner).counters else {
            renew(handle);
            return;
        };
        open.enter();
        // Room for the readings, and after them for the next record.
        if (*handle).cursor > (*owner).limit.wrapping_sub(READINGS) {
            renew(handle);
        }
        readings::write_readings(&mut *owner);
        if let Some(open) = &mut (*owner).counters {
            open.leave();
        }
    }
}

/// Gives the handle another chunk.
fn renew(handle: *mut Handle) {
    let _errno = KeepErrno::new();
    // SAFETY: the handle is the calling thread's and the first field of its owner.
    unsafe {
        let owner = owner_of(handle);
        match (process::recording(), (*owner).chunk) {
            (Some(recording), Some(chunk)) => {
                let began = folding::begins(recording, &mut *owner);
                let folded = folding::fold_chunk(recording, &mut *owner, chunk);
                kept_chunks::pass(&mut *owner, &chunk);
                let next = next_header(recording, &*owner);
                let moved = !folded && move_out(recording, chunk, next);
                if !folded && !moved {
                    (*owner).chunk = None;
                    kept_chunks::seal(recording, chunk, (*handle).last);
                }
                if let Some(readings) = &recording.readings {
                    readings.read(recording, (*handle).thread);
                }
                folding::ends(recording, &mut *owner, began);
                if moved {
                    begin(&mut *owner, chunk);
                } else if !folded {
                    next_chunk(recording, owner);
                }
            }
            (state, _) => {
                // Scratch memory is full, or recording is over; an earlier chunk stays as it is.
                if let (Some(recording), None) = (state, (*owner).chunk) {
                    count_dropped(recording, &(*owner).handle);
                }
                (*owner).chunk = None;
                use_scratch(&mut *owner);
            }
        }
    }
}

/// Empties the chunk of a thread whose chunks have reached full size, so that the thread keeps it.
/// Its contents are written elsewhere in the file first. Returns false, with the chunk unchanged,
/// if that could not be done.
///
/// # Safety
/// The chunk belongs to the calling thread only.
unsafe fn move_out(recording: &Recording, chunk: MappedChunk, next: ChunkHeader) -> bool {
    if let Some(ring) = &recording.ring {
        // SAFETY: the caller guarantees the chunk.
        return unsafe { kept_chunks::move_out(recording, ring, chunk, next) };
    }
    let is_full_size = chunk.capacity() + CHUNK_HEADER_SIZE >= SIZES[SIZES.len() - 1];
    // SAFETY: the caller guarantees the chunk; a chunk of full size has a mapping of its own.
    is_full_size && unsafe { recording.spool.move_out(chunk, next, || None) }.is_some()
}

/// Writes a record of any length through the handle: `length` bytes of operands, at time `now`.
/// Records too long for a chunk of the largest size are dropped.
///
/// # Safety
/// `handle` is the calling thread's; `operands` holds `length` bytes.
pub(crate) unsafe fn long_record(
    handle: *mut Handle,
    kind: Kind,
    now: u64,
    operands: *const u8,
    length: usize,
) {
    // With a ring, all chunks are small.
    let largest = match process::any_recording() {
        Some(recording) if recording.ring.is_some() => chunk_queue::SIZE / 2,
        _ => SIZES[SIZES.len() - 1],
    };
    if length > largest - CHUNK_HEADER_SIZE - 2 * wire::SLACK - READINGS {
        return;
    }
    // SAFETY: the caller guarantees handle and operands; room is made before anything is written.
    unsafe {
        if (*handle).table.is_null() {
            revive(handle);
        }
        let owner = owner_of(handle);
        if length > MAX_RECORD_BYTES
            && let Some(recording) = process::recording()
            && (*owner).folder.is_some()
        {
            folding::stop_folding(recording, &mut *owner);
        }
        // A thread's first chunks may be too small for the record.
        for _ in 0..SIZES.len() {
            let limit = (*owner).limit as usize;
            let room = limit - ((*handle).cursor as usize).min(limit);
            if room >= length + READINGS || (*owner).chunk.is_none() {
                break;
            }
            refill_at(handle, now);
        }
        let p = Handle::head(handle, kind, now);
        if (*owner).chunk.is_none() {
            return;
        }
        ptr::copy_nonoverlapping(operands, p, length);
        Handle::commit(handle, p.add(length));
    }
}

/// Refills early: the new chunk counts from `now`.
unsafe fn refill_at(handle: *mut Handle, now: u64) {
    // SAFETY: the caller guarantees the handle.
    unsafe { (*handle).last = (*handle).last.max(now) };
    renew(handle);
}
