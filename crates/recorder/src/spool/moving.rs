//! A full chunk is written to its place in the file, and its memory, which has its pages and lies in the cache, takes the next one.
//!
//! Whenever the process is killed, a reader finds each record once at least, and never half a chunk:
//!
//! 1. The new place gets a header with the flag [`MOVING`], so that nothing is read there; then the records; then the header as
//!    that of a sealed chunk. Until then the chunk in memory is the one that counts, after it both say the same.
//! 2. The chunk in memory gets the flag, its next header, and the flag is taken away.
//!
//! A file is written to by one thread at a time, so that many would wait for each other. A thread that finds another one at it
//! maps a new chunk instead.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{Ordering, fence};

use super::{Mapped, Spool};
use crate::system;
use workspan_trace::chunk::{CHUNK_HEADER_SIZE, ChunkHeader, FLAGS_AT, MOVING, SEALED};

/// Where the part of a header begins that changes with the chunk.
const AFTER_FLAGS: usize = 8;

impl Spool {
    /// Makes the chunk an empty one with the header `next`; what was in it is kept elsewhere in the file. False, with the chunk as it
    /// was, when that could not be done.
    ///
    /// # Safety
    /// The chunk is the calling thread's alone, and has a mapping of its own.
    pub(crate) unsafe fn move_out(&self, chunk: Mapped, next: ChunkHeader) -> bool {
        if self.is_full() || self.moving.swap(true, Ordering::Acquire) {
            return false;
        }
        // SAFETY: the caller's.
        let copied = unsafe { self.copy(chunk) }.is_some();
        self.moving.store(false, Ordering::Release);
        if copied {
            // SAFETY: the caller's.
            unsafe { begin_again(chunk, next) };
        }
        copied
    }

    /// # Safety
    /// As [`Spool::move_out`].
    unsafe fn copy(&self, chunk: Mapped) -> Option<()> {
        let committed = chunk.committed().load(Ordering::Relaxed) as usize;
        // SAFETY: the chunk is mapped, and only the calling thread stores to it.
        let (head, capacity) = unsafe {
            let head = core::slice::from_raw_parts(chunk.at, CHUNK_HEADER_SIZE);
            let all = core::slice::from_raw_parts(chunk.payload(), chunk.capacity());
            (head, all)
        };
        let (records, header) = (capacity.get(..committed)?, ChunkHeader::decode(head)?);
        let mut header = ChunkHeader {
            flags: MOVING,
            committed: committed as u64,
            checksum: header.checksum_of(records),
            ..header
        };
        let fd = self.file.number()?;
        let offset = self.next.fetch_add(chunk.size as u64, Ordering::Relaxed);
        // What is lacking is found out again, and told, by whoever maps a chunk.
        self.allocate(fd, offset, chunk.size).ok()?;
        write_at(fd, &header.encode(), offset)?;
        write_at(fd, records, offset + CHUNK_HEADER_SIZE as u64)?;
        header.flags = SEALED;
        write_at(fd, &header.encode(), offset)
    }
}

/// # Safety
/// As [`Spool::move_out`].
unsafe fn begin_again(chunk: Mapped, next: ChunkHeader) {
    let header = ChunkHeader {
        capacity: chunk.capacity() as u32,
        ..next
    };
    let bytes = header.encode();
    // SAFETY: a header is mapped at the chunk's address, and only the calling thread stores to it.
    unsafe {
        let flags = chunk.at.add(FLAGS_AT);
        flags.write_volatile(MOVING);
        fence(Ordering::Release);
        core::ptr::copy_nonoverlapping(
            bytes.as_ptr().add(AFTER_FLAGS),
            chunk.at.add(AFTER_FLAGS),
            bytes.len() - AFTER_FLAGS,
        );
        fence(Ordering::Release);
        flags.write_volatile(header.flags);
    }
}

/// Writes all of `bytes`.
fn write_at(fd: c_int, bytes: &[u8], offset: u64) -> Option<()> {
    let mut done = 0;
    while let Some(rest) = bytes.get(done..).filter(|rest| !rest.is_empty()) {
        let at = (offset + done as u64) as i64;
        // SAFETY: `rest` is as long as said.
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
