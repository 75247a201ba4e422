//! The order of stores by which a thread hands a chunk to a reader, either while the thread writes
//! the chunk or after the thread was killed.
//!
//! A chunk lies in memory that is all zeros at first. Each step ends with one release store of a
//! word that publishes everything stored before it. Until that store, a reader sees the previous
//! step:
//!
//! | step | stored first | published by |
//! |---|---|---|
//! | [`begin`] | the header | the magic: there is a chunk |
//! | [`append`] | records | the count of committed bytes: these records are whole |
//! | [`seal`] | the checksum | the flags: no more records are added |
//! | `trim` | the checksum; zeros behind the last record | the flags: no more records, and the next chunk begins right behind |
//! | [`replace`] | the flag [`MOVING`] first, then another chunk: records, header, count | the flags: the new chunk is there |
//!
//! A thread that folds has two chunks that take turns. [`replace`] writes the records of the full
//! one, folded, into the other one, which then counts because of its later turn
//! ([`crate::chunk::TURN_BITS`]). When records leave for a sealed chunk of their own, the other
//! chunk already has the next number. It does not count until the sealed chunk is there, which
//! replaces the full one by a single store.
//!
//! Front ends do [`append`] by hand on their hot path, and end it with
//! [`wire::commit`](crate::wire::commit).
//!
//! A reader that loads magic, flags and count with acquire, in that order, finds whole records, and
//! all of them if the flags say sealed. A reader that looks at later chunks before earlier ones
//! misses none in between. `tests/it/hand_off.rs` checks both with a model checker, and with a
//! writer killed after each of its stores.

use core::sync::atomic::{Ordering, fence};

use crate::chunk::{
    ALIGNMENT, CHECKSUM_AT, CHUNK_HEADER_SIZE, CHUNK_MAGIC, COMMITTED_AT, ChunkHeader, FLAGS_AT,
    MOVING, SEALED, TRIMMED,
};
use crate::wire::{Count, SLACK, commit};

/// The word of a chunk's header that ends a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// The first four bytes, little-endian.
    Magic,
    /// The byte at [`FLAGS_AT`].
    Flags,
}

/// A chunk's memory: its header and the space for its payload.
pub trait Memory {
    /// The count of committed bytes, at [`COMMITTED_AT`].
    type Count: Count;

    /// See [`Memory::Count`].
    fn count(&self) -> &Self::Count;
    /// The size of the payload area in bytes.
    fn capacity(&self) -> usize;
    /// Stores bytes at an offset from the chunk's beginning, in no particular order. They are
    /// within the chunk and contain no [`Word`] and no count.
    fn write(&self, at: usize, bytes: &[u8]);
    /// Calls `f` with bytes that the calling thread wrote.
    fn read<R>(&self, at: usize, length: usize, f: impl FnOnce(&[u8]) -> R) -> R;
    /// Stores a word.
    fn store(&self, word: Word, value: u32, order: Ordering);
}

/// Begins a chunk in memory that is all zeros. The header's capacity becomes the memory's. No
/// records are committed.
pub fn begin(memory: &impl Memory, header: ChunkHeader) {
    begin_as(memory, header, 0);
}

/// Begins a chunk in memory that is all zeros, with these records in it. The header's capacity
/// becomes the memory's. Returns false and stores nothing if the records do not fit.
pub fn begin_with(memory: &impl Memory, header: ChunkHeader, records: &[u8]) -> bool {
    // A reader skips the place until the chunk is complete.
    let fits = records.len() <= memory.capacity();
    if fits {
        begin_as(memory, header, MOVING);
        replace(memory, header, records);
    }
    fits
}

fn begin_as(memory: &impl Memory, header: ChunkHeader, flags: u8) {
    store_all(memory, &header, &[]);
    if flags != 0 {
        memory.store(Word::Flags, u32::from(flags), Ordering::Relaxed);
    }
    memory.store(
        Word::Magic,
        u32::from_le_bytes(CHUNK_MAGIC),
        Ordering::Release,
    );
}

/// Replaces the contents of a chunk owned by the caller. In between, readers skip it. The header's
/// capacity becomes the memory's. Returns false and changes nothing if the records do not fit.
pub fn replace(memory: &impl Memory, header: ChunkHeader, records: &[u8]) -> bool {
    if records.len() > memory.capacity() {
        return false;
    }
    memory.store(Word::Flags, u32::from(MOVING), Ordering::Relaxed);
    // No store below may come before this one.
    fence(Ordering::Release);
    store_all(memory, &header, records);
    memory.store(Word::Flags, u32::from(header.flags), Ordering::Release);
    true
}

/// Marks a chunk as invalid: readers skip it but keep its extent.
pub fn invalidate(memory: &impl Memory) {
    memory.store(Word::Flags, u32::from(MOVING), Ordering::Release);
}

/// Stores everything in a chunk except its words.
fn store_all(memory: &impl Memory, header: &ChunkHeader, records: &[u8]) {
    let header = ChunkHeader {
        capacity: u32::try_from(memory.capacity()).unwrap_or(u32::MAX),
        ..*header
    };
    let bytes = header.encode();
    memory.write(CHUNK_HEADER_SIZE, records);
    memory.write(CHUNK_MAGIC.len(), &bytes[CHUNK_MAGIC.len()..FLAGS_AT]);
    memory.write(FLAGS_AT + 1, &bytes[FLAGS_AT + 1..COMMITTED_AT]);
    memory
        .count()
        .store(records.len() as u64, Ordering::Relaxed);
    memory.write(COMMITTED_AT + 8, &bytes[COMMITTED_AT + 8..]);
}

/// Appends whole records behind the first `used` bytes of the payload. Returns false if they do not
/// fit.
pub fn append(memory: &impl Memory, used: usize, records: &[u8]) -> bool {
    let end = used.saturating_add(records.len());
    if end > memory.capacity() {
        return false;
    }
    memory.write(CHUNK_HEADER_SIZE + used, records);
    commit(memory.count(), end as u64);
    true
}

/// Seals a chunk owned by the caller. Returns the number of committed bytes.
pub fn seal(memory: &impl Memory) -> usize {
    let committed = checksummed(memory);
    memory.store(Word::Flags, u32::from(SEALED), Ordering::Release);
    committed
}

/// Seals a chunk so that another one can begin right behind its last record. Returns the offset of
/// that place from the chunk's beginning, or `None`, with nothing changed, if fewer than `least`
/// bytes would be left.
pub fn seal_short(memory: &impl Memory, least: usize) -> Option<usize> {
    let committed = usize::try_from(memory.count().load(Ordering::Relaxed)).ok()?;
    let end = (CHUNK_HEADER_SIZE + committed).next_multiple_of(ALIGNMENT);
    let left = (CHUNK_HEADER_SIZE + memory.capacity()).checked_sub(end)?;
    if left < least {
        return None;
    }
    let committed = checksummed(memory);
    // Stores reach beyond a record's end. The next chunk begins in zeros, and a reader takes
    // anything else for damage.
    let rest = memory.capacity() - committed;
    memory.write(
        CHUNK_HEADER_SIZE + committed,
        &[0; SLACK][..rest.min(SLACK)],
    );
    memory.store(Word::Flags, u32::from(SEALED | TRIMMED), Ordering::Release);
    Some(end)
}

/// Stores the checksum of the committed bytes. Returns their number.
fn checksummed(memory: &impl Memory) -> usize {
    let committed = memory.count().load(Ordering::Relaxed);
    let committed = usize::try_from(committed)
        .unwrap_or(usize::MAX)
        .min(memory.capacity());
    let sum = memory.read(0, CHUNK_HEADER_SIZE + committed, |bytes| {
        let (head, payload) = bytes.split_at(CHUNK_HEADER_SIZE);
        ChunkHeader::decode(head).map(|header| header.checksum_of(payload))
    });
    if let Some(sum) = sum {
        memory.write(CHECKSUM_AT, &sum.to_le_bytes());
    }
    committed
}
