//! The file that a recorded process writes to. Pieces of it are allocated on the disk, then mapped.
//!
//! A piece is allocated on the disk (`fallocate`) before it is mapped, so that a full disk is an
//! error here and not a SIGBUS in the program. Bytes stored in a shared mapping survive the
//! process, however it ends. Mapping new pages of a file costs several times as much as writing to
//! them, so a thread with many records keeps its piece ([`Spool::move_out`]).

mod chunk_copy;

pub(crate) use chunk_copy::Piece;

use core::ffi::{c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::descriptor::Descriptor;
use crate::emergency_heap;
use crate::system;
use workspan_trace::chunk::{BASE_NS_AT, CHUNK_HEADER_SIZE, COMMITTED_AT, ChunkHeader, FLAGS_AT};
use workspan_trace::hand_off::{self, Memory, Word};
use workspan_trace::header::{ExhaustedResource, HEADER_SIZE};

/// Pieces of this size and larger are made writable at once (Linux 5.14): `MAP_POPULATE` maps a
/// shared page for reading only, so that the first record in each page would fault. Smaller pieces,
/// which may stay mostly empty, are left clean.
const MIN_WRITABLE_PIECE: usize = 256 << 10;

/// The smallest rest of a chunk, in bytes, that another chunk may begin in.
const MIN_REST_BYTES: usize = 2048;

/// An open spool file.
pub(crate) struct Spool {
    file: Descriptor,
    next: AtomicU64,
    /// Whether there was no space left once. Nothing more is allocated then, so that all threads
    /// stop recording at about the same time.
    full: AtomicBool,
    /// See [`MIN_WRITABLE_PIECE`]; false once the kernel has refused.
    makes_writable: AtomicBool,
    /// Whether some thread is just [moving](Spool::move_out) its records.
    moving: AtomicBool,
    header: *mut u8,
}

// SAFETY: the header page is mapped for the process's life and written through atomics, or before
// it is shared.
unsafe impl Sync for Spool {}
// SAFETY: the header page is mapped for the process's life and written through atomics, or before
// it is shared.
unsafe impl Send for Spool {}

/// A chunk in memory: header and payload, mapped from the file.
#[derive(Clone, Copy)]
pub(crate) struct MappedChunk {
    at: *mut u8,
    size: usize,
    offset: u64,
    /// The beginning of the mapping, of which the chunk is the rest.
    mapping: *mut u8,
}

/// The position of a chunk in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ChunkPlace {
    pub(crate) offset: u64,
    pub(crate) size: usize,
}

impl Spool {
    /// Creates `<folder>/<name>.<pid>.<n>.spool` with the first free n. `page` is the machine's
    /// page size. Pieces are whole pages, and readers skip the zeros behind a smaller header.
    pub(crate) fn create(folder: &Path, name: &str, page: usize) -> Option<Spool> {
        // SAFETY: getpid has no preconditions.
        let pid = unsafe { system::getpid() };
        for n in 0..10_000 {
            let path = folder.join(format!("{name}.{pid}.{n}.spool"));
            let path = CString::new(path.as_os_str().as_bytes()).ok()?;
            let file = match Descriptor::create(path) {
                Ok(file) => file,
                Err(system::EEXIST) => continue,
                Err(_) => return None,
            };
            let mut spool = Spool {
                file,
                next: AtomicU64::new(0),
                full: AtomicBool::new(false),
                makes_writable: AtomicBool::new(true),
                moving: AtomicBool::new(false),
                header: ptr::null_mut(),
            };
            return match spool.map(HEADER_SIZE.max(page)) {
                Some(page) => {
                    spool.header = page.at;
                    Some(spool)
                }
                None => {
                    // There is no space even for the header, and an empty file would be confusing.
                    spool.file.remove();
                    None
                }
            };
        }
        None
    }

    /// Writes the header page, once.
    pub(crate) fn write_header(&self, page: &[u8; HEADER_SIZE]) {
        // The magic comes last: a process killed in between leaves a file that is clearly not a
        // trace.
        // SAFETY: the header page is mapped, HEADER_SIZE long, and no other thread writes to it
        // yet.
        unsafe {
            ptr::copy_nonoverlapping(page.as_ptr().add(8), self.header.add(8), HEADER_SIZE - 8);
            self.header.cast::<[u8; 8]>().write_volatile([
                page[0], page[1], page[2], page[3], page[4], page[5], page[6], page[7],
            ]);
        }
    }

    /// The count of dropped bytes in the header page.
    pub(crate) fn dropped(&self) -> &AtomicU64 {
        // SAFETY: the page is mapped for the process's life; the offset is 8-aligned; only this
        // atomic is used for it.
        unsafe {
            &*self
                .header
                .add(workspan_trace::header::DROPPED_AT)
                .cast::<AtomicU64>()
        }
    }

    /// Whether there was no space left once.
    pub(crate) fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    /// The number of bytes allocated so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.next.load(Ordering::Relaxed)
    }

    /// Allocates `size` bytes (a multiple of the page size) and maps them; `None` if there is no
    /// space.
    pub(crate) fn map(&self, size: usize) -> Option<MappedChunk> {
        if self.is_full() {
            return None;
        }
        let offset = self.next.fetch_add(size as u64, Ordering::Relaxed);
        let to_write = size >= MIN_WRITABLE_PIECE && self.makes_writable.load(Ordering::Relaxed);
        match self.map_at(offset, size, to_write) {
            Ok(mapped) => Some(mapped),
            Err(lack) => {
                self.fill_up(lack);
                None
            }
        }
    }

    fn map_at(
        &self,
        offset: u64,
        size: usize,
        to_write: bool,
    ) -> Result<MappedChunk, ExhaustedResource> {
        if emergency_heap::is_touched() {
            return Err(ExhaustedResource::Memory);
        }
        let fd = self.file.number().ok_or(ExhaustedResource::File)?;
        self.allocate(fd, offset, size)?;
        self.map_place(offset, size, to_write)
    }

    /// Maps a part of the file that is already on the disk.
    fn map_place(
        &self,
        offset: u64,
        size: usize,
        to_write: bool,
    ) -> Result<MappedChunk, ExhaustedResource> {
        let fd = self.file.number().ok_or(ExhaustedResource::File)?;
        let populate = if to_write { 0 } else { system::MAP_POPULATE };
        // SAFETY: a fresh mapping of our own file; the kernel picks the address.
        let at = unsafe {
            system::mmap(
                ptr::null_mut(),
                size,
                system::PROT_READ_WRITE,
                system::MAP_SHARED | populate,
                fd,
                offset as i64,
            )
        };
        if at as isize == -1 {
            return Err(ExhaustedResource::Memory);
        }
        // SAFETY: no other code uses the mapping; its contents stay as they are.
        let made =
            !to_write || unsafe { system::madvise(at, size, system::MADV_POPULATE_WRITE) } == 0;
        if !made {
            self.makes_writable.store(false, Ordering::Relaxed);
        }
        Ok(MappedChunk {
            at: at.cast(),
            size,
            offset,
            mapping: at.cast(),
        })
    }

    /// Stops allocating, for this reason.
    fn fill_up(&self, lack: ExhaustedResource) {
        if !self.full.swap(true, Ordering::Relaxed) && !self.header.is_null() {
            // SAFETY: within the header page, which is mapped for the process's life; written once.
            unsafe {
                self.header
                    .add(workspan_trace::header::LACK_AT)
                    .cast::<u32>()
                    .write_volatile((lack as u32).to_le());
            }
        }
    }

    fn allocate(&self, fd: c_int, offset: u64, size: usize) -> Result<(), ExhaustedResource> {
        let mut limit = system::Limit {
            current: u64::MAX,
            maximum: u64::MAX,
        };
        // Growing a file beyond the limit would raise SIGXFSZ in the program.
        // SAFETY: `limit` is a struct rlimit to write to.
        unsafe { system::getrlimit(system::RLIMIT_FSIZE, &mut limit) };
        if offset + size as u64 > limit.current {
            return Err(ExhaustedResource::Disk);
        }
        loop {
            // SAFETY: plain system call on our own file.
            if unsafe { system::fallocate(fd, 0, offset as i64, size as i64) } == 0 {
                return Ok(());
            }
            match system::errno() {
                system::EINTR => {}
                system::EOPNOTSUPP | system::ENOSYS => {
                    return self.write_zeros(fd, offset, size);
                }
                system::ENOMEM => return Err(ExhaustedResource::Memory),
                _ => return Err(ExhaustedResource::Disk),
            }
        }
    }

    /// The fallback for file systems without `fallocate`.
    fn write_zeros(&self, fd: c_int, offset: u64, size: usize) -> Result<(), ExhaustedResource> {
        static ZEROS: [u8; 4096] = [0; 4096];
        let mut done = 0;
        while done < size {
            let length = (size - done).min(ZEROS.len());
            let at = (offset + done as u64) as i64;
            // SAFETY: `ZEROS` holds `length` bytes.
            let n = unsafe { system::pwrite(fd, ZEROS.as_ptr().cast::<c_void>(), length, at) };
            if n <= 0 {
                if n < 0 && system::errno() == system::EINTR {
                    continue;
                }
                return Err(ExhaustedResource::Disk);
            }
            done += n as usize;
        }
        Ok(())
    }

    /// Creates a chunk of `size` bytes in all (a multiple of the page size). Its magic is stored
    /// last.
    pub(crate) fn chunk(&self, size: usize, header: ChunkHeader) -> Option<MappedChunk> {
        self.map(size).map(|mapped| Self::begin(mapped, header))
    }

    /// Creates a chunk in the rest of one that was [trimmed](Spool::trim).
    pub(crate) fn chunk_in(&self, rest: MappedChunk, header: ChunkHeader) -> Option<MappedChunk> {
        (!self.is_full()).then(|| Self::begin(rest, header))
    }

    /// Creates a chunk in the place of one that is no longer needed.
    pub(crate) fn chunk_at(&self, place: ChunkPlace, header: ChunkHeader) -> Option<MappedChunk> {
        if self.is_full() {
            return None;
        }
        let mapped = match self.map_place(place.offset, place.size, true) {
            Ok(mapped) => mapped,
            Err(lack) => {
                self.fill_up(lack);
                return None;
            }
        };
        // SAFETY: the mapping is fresh, used by no other code, and larger than a header.
        unsafe {
            mapped.at.cast::<[u8; 4]>().write_volatile([0; 4]);
            core::sync::atomic::fence(Ordering::Release);
            // A chunk must begin in zeros, as far as its header goes.
            ptr::write_bytes(mapped.at, 0, CHUNK_HEADER_SIZE);
        }
        Some(Self::begin(mapped, header))
    }

    fn begin(mapped: MappedChunk, header: ChunkHeader) -> MappedChunk {
        hand_off::begin(&mapped, header);
        mapped
    }

    /// Seals the chunk, shrunk to its contents, and returns the rest for another one. Threads that
    /// live for a few records thus share a page. `None` if the rest is too small.
    ///
    /// # Safety
    /// The same as for [`Spool::seal`].
    pub(crate) unsafe fn trim(&self, chunk: MappedChunk) -> Option<MappedChunk> {
        let Some(used) = hand_off::seal_short(&chunk, MIN_REST_BYTES) else {
            // SAFETY: the caller guarantees what `seal` requires.
            unsafe { self.seal(chunk, true) };
            return None;
        };
        Some(MappedChunk {
            // SAFETY: a rest of the chunk is left, so its beginning is within the mapping.
            at: unsafe { chunk.at.add(used) },
            size: chunk.size - used,
            offset: chunk.offset + used as u64,
            mapping: chunk.mapping,
        })
    }

    /// Discards the chunk: it no longer counts, and its space is given back to the disk.
    ///
    /// # Safety
    /// No code may use the chunk from now on.
    pub(crate) unsafe fn drop(&self, chunk: MappedChunk) {
        hand_off::invalidate(&chunk);
        // SAFETY: the caller no longer uses the chunk; it is not used below.
        unsafe { chunk.unmap() };
        let (start, end) = (chunk.offset, chunk.offset + chunk.size as u64);
        self.give_back(start + CHUNK_HEADER_SIZE as u64..end);
    }

    /// Frees the whole pages of this part of the file, which then reads as zeros.
    fn give_back(&self, part: core::ops::Range<u64>) {
        let start = part.start.next_multiple_of(4096);
        if start < part.end
            && let Some(fd) = self.file.number()
        {
            let mode = system::FALLOC_FL_PUNCH_HOLE | system::FALLOC_FL_KEEP_SIZE;
            // SAFETY: plain system call on our own file; if it fails, only space is lost.
            unsafe { system::fallocate(fd, mode, start as i64, (part.end - start) as i64) };
        }
    }

    /// Seals the chunk and unmaps it. With `release`, the pages it never used are given back to the
    /// disk.
    ///
    /// # Safety
    /// No code may write to the chunk or use it from now on.
    pub(crate) unsafe fn seal(&self, chunk: MappedChunk, release: bool) {
        let committed = hand_off::seal(&chunk);
        // SAFETY: the caller no longer uses the chunk; it is not used below.
        unsafe { chunk.unmap() };
        if release {
            let used = chunk.offset + (CHUNK_HEADER_SIZE + committed) as u64;
            self.give_back(used..chunk.offset + chunk.size as u64);
        }
    }
}

impl MappedChunk {
    /// # Safety
    /// No code uses the chunk, nor the chunks in whose rest it lies.
    unsafe fn unmap(&self) {
        let before = self.at as usize - self.mapping as usize;
        // SAFETY: from the mapping's beginning to its end, which is the chunk's end.
        unsafe { system::munmap(self.mapping.cast(), before + self.size) };
    }

    /// First byte of the payload.
    pub(crate) fn payload(&self) -> *mut u8 {
        // SAFETY: every chunk is larger than its header.
        unsafe { self.at.add(CHUNK_HEADER_SIZE) }
    }
    /// The chunk's position in the file.
    pub(crate) fn place(&self) -> ChunkPlace {
        ChunkPlace {
            offset: self.offset,
            size: self.size,
        }
    }
    /// The time at which the chunk began, in nanoseconds, from its header.
    pub(crate) fn base_ns(&self) -> u64 {
        // SAFETY: within the mapped header, 8-aligned, and written before by its only writer.
        u64::from_le(unsafe { self.at.add(BASE_NS_AT).cast::<u64>().read() })
    }
    /// Size of the payload.
    pub(crate) fn capacity(&self) -> usize {
        self.size - CHUNK_HEADER_SIZE
    }
    /// The address of the byte at `at`, and `length` limited to the chunk's end.
    fn within(&self, at: usize, length: usize) -> (*mut u8, usize) {
        let at = at.min(self.size);
        // SAFETY: at most the chunk's end.
        (unsafe { self.at.add(at) }, length.min(self.size - at))
    }

    /// The count of committed bytes.
    pub(crate) fn committed(&self) -> &AtomicU64 {
        // SAFETY: in the mapped header, 8-aligned; live as long as the chunk is mapped, which its
        // owner ensures.
        unsafe { &*self.at.add(COMMITTED_AT).cast::<AtomicU64>() }
    }
}

impl Memory for MappedChunk {
    type Count = AtomicU64;

    fn count(&self) -> &AtomicU64 {
        self.committed()
    }
    fn capacity(&self) -> usize {
        MappedChunk::capacity(self)
    }
    fn write(&self, at: usize, bytes: &[u8]) {
        let (to, length) = self.within(at, bytes.len());
        // SAFETY: within the mapped chunk, whose only writer this is; readers look there once a
        // word says so.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), to, length) };
    }
    fn read<R>(&self, at: usize, length: usize, f: impl FnOnce(&[u8]) -> R) -> R {
        let (from, length) = self.within(at, length);
        // SAFETY: within the mapped chunk, which only the calling thread writes to.
        f(unsafe { core::slice::from_raw_parts(from, length) })
    }
    fn store(&self, word: Word, value: u32, order: Ordering) {
        // SAFETY: both words are in the mapped header, aligned because chunks are 8-aligned, and
        // only stored by these atomics.
        unsafe {
            match word {
                Word::Magic => (*self.at.cast::<AtomicU32>()).store(value.to_le(), order),
                Word::Flags => {
                    (*self.at.add(FLAGS_AT).cast::<AtomicU8>()).store(value as u8, order)
                }
            }
        }
    }
}
