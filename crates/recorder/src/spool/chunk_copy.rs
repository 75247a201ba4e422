//! Writes a full chunk to its place in the file, so that its memory, whose pages are present and in
//! the cache, can take the next chunk.
//!
//! Whenever the process is killed, a reader finds each record at least once, and never half a
//! chunk:
//!
//! 1. The new place gets a header with the flag [`MOVING`], so that nothing is read there; then the
//!    records; then the header of a sealed chunk. Until then the chunk in memory counts; afterwards
//!    both have the same contents.
//! 2. The chunk in memory gets the flag, its next header, and the flag is removed.
//!
//! Only one thread at a time can write to a file, so threads would wait for each other. A thread
//! that finds another one writing maps a new chunk instead.

use core::ffi::{c_int, c_void};
use core::sync::atomic::Ordering;

use super::{ChunkPlace, MappedChunk, Spool};
use crate::system;
use workspan_trace::chunk::{ALIGNMENT, CHUNK_HEADER_SIZE, ChunkHeader, FLAGS_AT, MOVING, SEALED};
use workspan_trace::hand_off;

/// A piece of the file for several consecutive sealed chunks. It is not mapped.
pub(crate) struct Piece {
    offset: u64,
    size: usize,
    used: usize,
}

impl Spool {
    /// Empties the chunk and gives it the header `next`, after its contents were written elsewhere
    /// in the file: to the place of an old chunk that `unused` returns, or to a new place. Returns
    /// the place, or `None`, with the chunk unchanged, if that could not be done.
    ///
    /// # Safety
    /// The chunk belongs to the calling thread only, and has a mapping of its own.
    pub(crate) unsafe fn move_out(
        &self,
        chunk: MappedChunk,
        next: ChunkHeader,
        unused: impl FnOnce() -> Option<ChunkPlace>,
    ) -> Option<ChunkPlace> {
        if self.is_full() || self.moving.swap(true, Ordering::Acquire) {
            return None;
        }
        let old = unused().filter(|old| old.size == chunk.size);
        // SAFETY: the caller guarantees what `copy` requires.
        let place = unsafe { self.copy(chunk, old) };
        self.moving.store(false, Ordering::Release);
        if place.is_some() {
            hand_off::replace(&chunk, next, &[]);
        }
        place
    }

    /// # Safety
    /// The same as for [`Spool::move_out`].
    unsafe fn copy(&self, chunk: MappedChunk, old: Option<ChunkPlace>) -> Option<ChunkPlace> {
        let committed = chunk.committed().load(Ordering::Relaxed) as usize;
        // SAFETY: the chunk is mapped, and only the calling thread stores to it.
        let (head, capacity) = unsafe {
            let head = core::slice::from_raw_parts(chunk.at, CHUNK_HEADER_SIZE);
            let all = core::slice::from_raw_parts(chunk.payload(), chunk.capacity());
            (head, all)
        };
        let (records, header) = (capacity.get(..committed)?, ChunkHeader::decode(head)?);
        let fd = self.file.number()?;
        let offset = match old {
            Some(old) => {
                // Readers skip the old chunk before its header changes.
                write_at(fd, &[MOVING], old.offset + FLAGS_AT as u64)?;
                old.offset
            }
            None => {
                let offset = self.next.fetch_add(chunk.size as u64, Ordering::Relaxed);
                // The next mapping of a chunk fails for the same reason, and reports it.
                self.allocate(fd, offset, chunk.size).ok()?;
                offset
            }
        };
        self.write_chunk(header, records, offset)?;
        let size = chunk.size;
        Some(ChunkPlace { offset, size })
    }

    /// Writes a sealed chunk, which readers skip until it is complete.
    fn write_chunk(&self, header: ChunkHeader, records: &[u8], offset: u64) -> Option<()> {
        let fd = self.file.number()?;
        let mut header = ChunkHeader {
            flags: MOVING,
            committed: records.len() as u64,
            checksum: header.checksum_of(records),
            ..header
        };
        write_at(fd, &header.encode(), offset)?;
        write_at(fd, records, offset + CHUNK_HEADER_SIZE as u64)?;
        header.flags = SEALED;
        write_at(fd, &header.encode(), offset)
    }

    /// Writes records to a sealed chunk of their own. If the piece has no room for them, it is
    /// ended and another one is begun, of at least `size` bytes (a multiple of the page size).
    /// `None`, without a new chunk, if the file cannot grow.
    pub(crate) fn put_out(
        &self,
        piece: &mut Option<Piece>,
        size: usize,
        header: ChunkHeader,
        records: &[u8],
    ) -> Option<()> {
        let needs = (CHUNK_HEADER_SIZE + records.len()).next_multiple_of(ALIGNMENT);
        if piece.as_ref().is_none_or(|p| p.size - p.used < needs) {
            let new = self.piece(size.max(needs.next_multiple_of(size.max(1))))?;
            if let Some(old) = piece.replace(new) {
                self.end_piece(old);
            }
        }
        let piece = piece.as_mut()?;
        let header = ChunkHeader {
            capacity: u32::try_from(records.len()).ok()?,
            ..header
        };
        self.write_chunk(header, records, piece.offset + piece.used as u64)?;
        piece.used += needs;
        Some(())
    }

    fn piece(&self, size: usize) -> Option<Piece> {
        if self.is_full() {
            return None;
        }
        let fd = self.file.number()?;
        let offset = self.next.fetch_add(size as u64, Ordering::Relaxed);
        self.allocate(fd, offset, size).ok()?;
        Some(Piece {
            offset,
            size,
            used: 0,
        })
    }

    /// Ends the piece: the pages it never used are given back to the disk.
    pub(crate) fn end_piece(&self, piece: Piece) {
        self.give_back(piece.offset + piece.used as u64..piece.offset + piece.size as u64);
    }
}

/// Writes all of `bytes`.
fn write_at(fd: c_int, bytes: &[u8], offset: u64) -> Option<()> {
    let mut done = 0;
    while let Some(rest) = bytes.get(done..).filter(|rest| !rest.is_empty()) {
        let at = (offset + done as u64) as i64;
        // SAFETY: `rest` has the length passed.
        let n = unsafe { system::pwrite(fd, rest.as_ptr().cast::<c_void>(), rest.len(), at) };
        match usize::try_from(n) {
            Ok(0) => return None,
            Ok(n) => done += n,
            Err(_) if system::errno() == system::EINTR => {}
            Err(_) => return None,
        }
    }
    Some(())
}
