//! How a chunk is handed from the thread that writes it to whoever reads it, while it is written or
//! after its writer was killed: which store stands before which.
//!
//! A chunk lies in memory that is all zeros at first. Each step ends in one store, with release, of
//! a word that stands for what was stored before it, and until that store a reader finds the step
//! before:
//!
//! | step | what is stored | the word |
//! |---|---|---|
//! | [`begin`] | the header | its magic: there is a chunk |
//! | [`append`] | records | the count of committed bytes: they are whole |
//! | [`seal`] | the checksum | the flags: nothing is added any more |
//! | `trim` | the checksum; zeros behind the last record | the flags: likewise, and the next chunk begins right behind |
//! | [`replace`] | the flag [`MOVING`] first, then another chunk: records, header, count | the flags: that chunk is there |
//!
//! A thread that folds has two chunks that take turns: [`replace`] puts the full one's records,
//! folded, into the other one, whose later turn ([`crate::chunk::TURN_BITS`]) makes it count. Where
//! records leave for a sealed chunk of their own, the other one has the next number already and
//! does not count until the sealed one is there, which then stands for the full one: by one store.
//!
//! Front ends do [`append`] by hand, on their hot path, and end it in
//! [`wire::commit`](crate::wire::commit).
//!
//! A reader that takes magic, flags and count with acquire, in that order, finds whole records, and
//! all of them where the flags say sealed. One that looks at later chunks before earlier ones
//! misses none in between. `tests/it/hand_off.rs` has both checked by a model checker, and a writer
//! killed after each of its stores.

use core::sync::atomic::{Ordering, fence};

use crate::chunk::{
    ALIGNMENT, CHECKSUM_AT, CHUNK_HEADER_SIZE, CHUNK_MAGIC, COMMITTED_AT, ChunkHeader, FLAGS_AT,
    MOVING, SEALED, TRIMMED,
};
use crate::wire::{Count, SLACK, commit};

/// A word of a chunk's header that a step ends in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// The first four bytes, little-endian.
    Magic,
    /// The byte at [`FLAGS_AT`].
    Flags,
}

/// A chunk's memory, its header and what is set aside for its payload.
pub trait Memory {
    /// Its count of committed bytes, at [`COMMITTED_AT`].
    type Count: Count;

    /// See [`Memory::Count`].
    fn count(&self) -> &Self::Count;
    /// Bytes set aside for the payload.
    fn capacity(&self) -> usize;
    /// Stores bytes at an offset from the chunk's beginning, in no particular order. They are
    /// within the chunk, and no word of [`Word`] and no count is among them.
    fn write(&self, at: usize, bytes: &[u8]);
    /// Calls `f` with bytes that the calling thread wrote.
    fn read<R>(&self, at: usize, length: usize, f: impl FnOnce(&[u8]) -> R) -> R;
    /// Stores a word.
    fn store(&self, word: Word, value: u32, order: Ordering);
}

/// Begins a chunk in memory that is all zeros. The header's capacity is the memory's; nothing is
/// committed.
pub fn begin(memory: &impl Memory, header: ChunkHeader) {
    begin_as(memory, header, 0);
}

/// Begins a chunk in memory that is all zeros, with these records in it. The header's capacity is
/// the memory's. False, and nothing was stored, when there is no room for them.
pub fn begin_with(memory: &impl Memory, header: ChunkHeader, records: &[u8]) -> bool {
    // Until it is whole, a reader passes over the place.
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

/// Makes a chunk, whose writer this is, another one with these records in it; in between it is
/// none. The header's capacity is the memory's. False, and nothing has changed, when there is no
/// room for them.
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

/// Makes a chunk none, of which only the place is known.
pub fn invalidate(memory: &impl Memory) {
    memory.store(Word::Flags, u32::from(MOVING), Ordering::Release);
}

/// Stores all of a chunk but its words.
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

/// Adds whole records behind the first `used` bytes of the payload; false when there is no room for
/// them.
pub fn append(memory: &impl Memory, used: usize, records: &[u8]) -> bool {
    let end = used.saturating_add(records.len());
    if end > memory.capacity() {
        return false;
    }
    memory.write(CHUNK_HEADER_SIZE + used, records);
    commit(memory.count(), end as u64);
    true
}

/// Seals a chunk, whose writer this is; how many bytes it has.
pub fn seal(memory: &impl Memory) -> usize {
    let committed = checksummed(memory);
    memory.store(Word::Flags, u32::from(SEALED), Ordering::Release);
    committed
}

/// Seals a chunk so that another one can begin right behind its last record: at the offset from its
/// beginning that is given back. `None`, and nothing has changed, when less than `least` bytes
/// would be left.
pub fn seal_short(memory: &impl Memory, least: usize) -> Option<usize> {
    let committed = usize::try_from(memory.count().load(Ordering::Relaxed)).ok()?;
    let end = (CHUNK_HEADER_SIZE + committed).next_multiple_of(ALIGNMENT);
    let left = (CHUNK_HEADER_SIZE + memory.capacity()).checked_sub(end)?;
    if left < least {
        return None;
    }
    let committed = checksummed(memory);
    // Stores go beyond a record's end; the next chunk begins in zeros, and a reader takes anything
    // else for damage.
    let rest = memory.capacity() - committed;
    memory.write(
        CHUNK_HEADER_SIZE + committed,
        &[0; SLACK][..rest.min(SLACK)],
    );
    memory.store(Word::Flags, u32::from(SEALED | TRIMMED), Ordering::Release);
    Some(end)
}

/// Stores the checksum of what is committed, and says how much that is.
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
