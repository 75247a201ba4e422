//! The file a recorded process writes to: pieces of it are set aside on the disk, then mapped.
//!
//! A piece is allocated on the disk (`fallocate`) before it is mapped, so that a full disk is an error here and not a
//! SIGBUS in the program. What is stored in a shared mapping survives the process, however it ends.

use core::ffi::{c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::system;
use workspan_trace::chunk::{
    CHECKSUM_AT, CHUNK_HEADER_SIZE, CHUNK_MAGIC, COMMITTED_AT, ChunkHeader, FLAGS_AT, SEALED,
};
use workspan_trace::header::HEADER_SIZE;

/// Pieces from this size on are made writable at once (Linux 5.14): `MAP_POPULATE` maps a shared page for reading only, so that
/// the first record in each would fault. Smaller ones, which may stay empty for the most part, are left clean.
const MADE_WRITABLE: usize = 256 << 10;

/// An open spool file.
pub(crate) struct Spool {
    fd: c_int,
    next: AtomicU64,
    /// No room was left once: nothing more is set aside, so that no thread records on while others do not.
    full: AtomicBool,
    /// See [`MADE_WRITABLE`]; false once the kernel refused.
    makes_writable: AtomicBool,
    header: *mut u8,
}

// SAFETY: the header page is mapped for the process's life and written through atomics or before it is shared.
unsafe impl Sync for Spool {}
// SAFETY: as above.
unsafe impl Send for Spool {}

/// A chunk in memory: header and payload, mapped from the file.
#[derive(Clone, Copy)]
pub(crate) struct Mapped {
    at: *mut u8,
    size: usize,
    offset: u64,
}

impl Spool {
    /// Creates `<folder>/<name>.<pid>.<n>.spool` with the first n that is free. `page` is the machine's page size: pieces are
    /// whole pages, and readers skip the zeros behind a header that is smaller.
    pub(crate) fn create(folder: &Path, name: &str, page: usize) -> Option<Spool> {
        // SAFETY: getpid has no preconditions.
        let pid = unsafe { system::getpid() };
        for n in 0..10_000 {
            let path = folder.join(format!("{name}.{pid}.{n}.spool"));
            let path = CString::new(path.as_os_str().as_bytes()).ok()?;
            let flags = system::O_RDWR | system::O_CREAT | system::O_EXCL | system::O_CLOEXEC;
            // SAFETY: `path` is a C string.
            let fd = unsafe { system::open(path.as_ptr(), flags, 0o600) };
            if fd < 0 {
                if system::errno() == system::EEXIST {
                    continue;
                }
                return None;
            }
            let mut spool = Spool {
                fd,
                next: AtomicU64::new(0),
                full: AtomicBool::new(false),
                makes_writable: AtomicBool::new(true),
                header: ptr::null_mut(),
            };
            return match spool.map(HEADER_SIZE.max(page)) {
                Some(page) => {
                    spool.header = page.at;
                    Some(spool)
                }
                None => {
                    // No room for so much as the header: an empty file would only raise questions.
                    // SAFETY: the descriptor is ours and used nowhere else; `path` is a C string.
                    unsafe {
                        system::unlink(path.as_ptr());
                        system::close(fd);
                    }
                    None
                }
            };
        }
        None
    }

    /// The header page, to be filled once.
    pub(crate) fn write_header(&self, page: &[u8; HEADER_SIZE]) {
        // The magic comes last: a process killed in between leaves a file that is visibly none.
        // SAFETY: the header page is mapped, HEADER_SIZE long, and nobody else writes to it yet.
        unsafe {
            ptr::copy_nonoverlapping(page.as_ptr().add(8), self.header.add(8), HEADER_SIZE - 8);
            self.header.cast::<[u8; 8]>().write_volatile([
                page[0], page[1], page[2], page[3], page[4], page[5], page[6], page[7],
            ]);
        }
    }

    /// The count of dropped bytes in the header page.
    pub(crate) fn dropped(&self) -> &AtomicU64 {
        // SAFETY: the page is mapped for the process's life; the offset is 8-aligned; only this atomic is used for it.
        unsafe {
            &*self
                .header
                .add(workspan_trace::header::DROPPED_AT)
                .cast::<AtomicU64>()
        }
    }

    /// True once there was no room.
    pub(crate) fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    /// Sets `size` bytes (a multiple of the page size) aside and maps them; `None` when there is no room.
    fn map(&self, size: usize) -> Option<Mapped> {
        if self.is_full() {
            return None;
        }
        let offset = self.next.fetch_add(size as u64, Ordering::Relaxed);
        let to_write = size >= MADE_WRITABLE && self.makes_writable.load(Ordering::Relaxed);
        let mapped = self.allocate(offset, size).then(|| {
            let populate = if to_write { 0 } else { system::MAP_POPULATE };
            // SAFETY: a fresh mapping of our own file; the kernel picks the address.
            unsafe {
                system::mmap(
                    ptr::null_mut(),
                    size,
                    system::PROT_READ_WRITE,
                    system::MAP_SHARED | populate,
                    self.fd,
                    offset as i64,
                )
            }
        });
        match mapped {
            Some(at) if at as isize != -1 => {
                // SAFETY: the mapping is ours alone; its contents stay as they are.
                let made = !to_write
                    || unsafe { system::madvise(at, size, system::MADV_POPULATE_WRITE) } == 0;
                if !made {
                    self.makes_writable.store(false, Ordering::Relaxed);
                }
                Some(Mapped {
                    at: at.cast(),
                    size,
                    offset,
                })
            }
            _ => {
                self.full.store(true, Ordering::Relaxed);
                None
            }
        }
    }

    fn allocate(&self, offset: u64, size: usize) -> bool {
        let mut limit = system::Limit {
            current: u64::MAX,
            maximum: u64::MAX,
        };
        // Growing a file beyond the limit would raise SIGXFSZ in the program.
        // SAFETY: `limit` is a struct rlimit to write to.
        unsafe { system::getrlimit(system::RLIMIT_FSIZE, &mut limit) };
        if offset + size as u64 > limit.current {
            return false;
        }
        loop {
            // SAFETY: plain system call on our own file.
            if unsafe { system::fallocate(self.fd, 0, offset as i64, size as i64) } == 0 {
                return true;
            }
            match system::errno() {
                system::EINTR => {}
                system::EOPNOTSUPP | system::ENOSYS => return self.write_zeros(offset, size),
                _ => return false,
            }
        }
    }

    /// For file systems without `fallocate`.
    fn write_zeros(&self, offset: u64, size: usize) -> bool {
        static ZEROS: [u8; 4096] = [0; 4096];
        let mut done = 0;
        while done < size {
            let length = (size - done).min(ZEROS.len());
            let at = (offset + done as u64) as i64;
            // SAFETY: `ZEROS` holds `length` bytes.
            let n = unsafe { system::pwrite(self.fd, ZEROS.as_ptr().cast::<c_void>(), length, at) };
            if n <= 0 {
                if n < 0 && system::errno() == system::EINTR {
                    continue;
                }
                return false;
            }
            done += n as usize;
        }
        true
    }

    /// A new chunk of `size` bytes in all (a multiple of the page size). Its magic is stored last.
    pub(crate) fn chunk(&self, size: usize, header: ChunkHeader) -> Option<Mapped> {
        let mapped = self.map(size)?;
        let header = ChunkHeader {
            capacity: (size - CHUNK_HEADER_SIZE) as u32,
            ..header
        };
        let bytes = header.encode();
        // SAFETY: the mapping is fresh, ours alone, and larger than a header.
        unsafe {
            let magic = CHUNK_MAGIC.len();
            ptr::copy_nonoverlapping(
                bytes.as_ptr().add(magic),
                mapped.at.add(magic),
                bytes.len() - magic,
            );
            mapped.at.cast::<[u8; 4]>().write_volatile(CHUNK_MAGIC);
        }
        Some(mapped)
    }

    /// Seals the chunk and unmaps it. With `release`, the pages it never used are given back to the disk.
    ///
    /// # Safety
    /// The chunk must not be written to or used by anyone from now on.
    pub(crate) unsafe fn seal(&self, chunk: Mapped, release: bool) {
        let committed = chunk.committed().load(Ordering::Relaxed) as usize;
        // SAFETY: the chunk is mapped until the end of this function, and nobody else uses it; `committed` is within it.
        unsafe {
            let head = core::slice::from_raw_parts(chunk.at, CHUNK_HEADER_SIZE);
            if let Some(header) = ChunkHeader::decode(head) {
                let payload =
                    core::slice::from_raw_parts(chunk.payload(), committed.min(chunk.capacity()));
                let sum = header.checksum_of(payload);
                chunk
                    .at
                    .add(CHECKSUM_AT)
                    .cast::<u64>()
                    .write_unaligned(sum.to_le());
                core::sync::atomic::fence(Ordering::Release);
                chunk.at.add(FLAGS_AT).write_volatile(SEALED);
            }
            system::munmap(chunk.at.cast(), chunk.size);
        }
        if release {
            let used = (CHUNK_HEADER_SIZE + committed).next_multiple_of(4096);
            if used < chunk.size {
                let mode = system::FALLOC_FL_PUNCH_HOLE | system::FALLOC_FL_KEEP_SIZE;
                let offset = chunk.offset as i64 + used as i64;
                // SAFETY: plain system call on our own file; where it is not possible nothing is lost but room.
                unsafe { system::fallocate(self.fd, mode, offset, (chunk.size - used) as i64) };
            }
        }
    }
}

impl Mapped {
    /// First byte of the payload.
    pub(crate) fn payload(&self) -> *mut u8 {
        // SAFETY: every chunk is larger than its header.
        unsafe { self.at.add(CHUNK_HEADER_SIZE) }
    }
    /// Size of the payload.
    pub(crate) fn capacity(&self) -> usize {
        self.size - CHUNK_HEADER_SIZE
    }
    /// The count of committed bytes.
    pub(crate) fn committed(&self) -> &AtomicU64 {
        // SAFETY: in the mapped header, 8-aligned; live as long as the chunk is mapped, which its owner sees to.
        unsafe { &*self.at.add(COMMITTED_AT).cast::<AtomicU64>() }
    }
}
