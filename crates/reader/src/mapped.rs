//! A trace's file in memory, safe against other processes that change it meanwhile.
//!
//! `cp new.wspan run.wspan`, `rsync --inplace` and network file systems may truncate files that are
//! being read. A mapped page that the file no longer has cannot be read: the kernel sends SIGBUS,
//! which ends the process without a message.
//!
//! * A small file is copied, so later changes do not matter.
//! * A large file is mapped, because many gigabytes may not fit into memory. Its range of addresses
//!   is in a list. A handler of SIGBUS looks the address up there, puts zeros in place of the
//!   missing pages, and notes that the file shrank. The reader continues, may or may not find
//!   damage, and then asks whether the file shrank ([`MappedPages::shrunk`]). systemd's journal is
//!   read in the same way. Reading by `pread` instead would need every pass over the records to
//!   hold buffers and handle errors.
//!
//! Signals that concern no range of the list go to the previous handler.

use std::cell::UnsafeCell;
use std::fs::File;
use std::io::{self, Read};
use std::mem::MaybeUninit;
use std::ops::Deref;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering, fence};

use memmap2::{Mmap, UncheckedAdvice};
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};

/// The largest size in bytes of a file that is copied.
const MAX_COPIED_BYTES: u64 = 16 << 20;

/// The contents of a file: a copy, or its mapped pages.
#[derive(Debug)]
pub(crate) enum FileBytes {
    /// A copy.
    Copied(Vec<u8>),
    /// The mapped pages.
    Mapped(MappedPages),
}

impl FileBytes {
    /// The first `length` bytes of the file.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn read(file: File, length: u64) -> io::Result<FileBytes> {
        if length > MAX_COPIED_BYTES {
            return MappedPages::from_file(file).map(FileBytes::Mapped);
        }
        let mut bytes = Vec::with_capacity(length as usize);
        file.take(length).read_to_end(&mut bytes)?;
        Ok(FileBytes::Copied(bytes))
    }

    /// Whether the file has become shorter since, so that zeros may have been read instead of it.
    pub(crate) fn shrunk(&self) -> bool {
        match self {
            FileBytes::Copied(_) => false,
            FileBytes::Mapped(map) => map.shrunk(),
        }
    }

    /// Releases the pages of a mapped file, which then take no memory until they are read again.
    pub(crate) fn release_pages(&self) {
        if let FileBytes::Mapped(map) = self {
            // SAFETY: nothing is ever written to the map, so its pages come back unchanged. If the
            // kernel refuses, they stay.
            let _ = unsafe { map.map.unchecked_advise(UncheckedAdvice::DontNeed) };
        }
    }
}

impl Deref for FileBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            FileBytes::Copied(bytes) => bytes,
            FileBytes::Mapped(map) => &map.map,
        }
    }
}

/// The mapped pages of a file.
#[derive(Debug)]
pub(crate) struct MappedPages {
    map: Mmap,
    file: File,
    range: &'static Range,
}

impl MappedPages {
    fn from_file(file: File) -> io::Result<MappedPages> {
        static HANDLER: Once = Once::new();
        HANDLER.call_once(install);
        // SAFETY: the map is only read. Bytes may change while they are read, which a parser of
        // damaged files handles as damage; missing pages are replaced by the handler.
        let map = unsafe { Mmap::map(&file) }?;
        let range = Range::watch(map.as_ptr() as usize, map.len());
        Ok(MappedPages { map, file, range })
    }

    fn shrunk(&self) -> bool {
        // Beyond the file's end, the rest of the last page reads as zeros without a signal.
        let shorter = |about: std::fs::Metadata| about.len() < self.map.len() as u64;
        self.range.shrunk.load(Ordering::SeqCst) || self.file.metadata().is_ok_and(shorter)
    }
}

impl Drop for MappedPages {
    fn drop(&mut self) {
        // This must happen before the addresses are reused.
        self.range.release();
    }
}

/// A mapped file's addresses. Ranges are never freed but reused, so that a handler can walk them at
/// any time.
#[derive(Debug)]
struct Range {
    /// 0 while the range is unused.
    start: AtomicUsize,
    length: AtomicUsize,
    shrunk: AtomicBool,
    taken: AtomicBool,
    next: *const Range,
}

// SAFETY: `next` is written before the range is shared, and points to a range that is never freed.
unsafe impl Sync for Range {}
// SAFETY: `next` is written before the range is shared, and points to a range that is never freed.
unsafe impl Send for Range {}

static RANGES: AtomicPtr<Range> = AtomicPtr::new(std::ptr::null_mut());

impl Range {
    fn all() -> impl Iterator<Item = &'static Range> {
        let first: *const Range = RANGES.load(Ordering::Acquire);
        // SAFETY: the list's ranges are never freed.
        let deref = |at: *const Range| unsafe { at.as_ref() };
        std::iter::successors(deref(first), move |range| deref(range.next))
    }

    fn watch(start: usize, length: usize) -> &'static Range {
        let take = |range: &&Range| !range.taken.swap(true, Ordering::AcqRel);
        let range = Range::all().find(take).unwrap_or_else(Range::add);
        range.shrunk.store(false, Ordering::SeqCst);
        range.length.store(length, Ordering::Release);
        range.start.store(start, Ordering::Release);
        range
    }

    fn add() -> &'static Range {
        let range = Box::leak(Box::new(Range {
            start: AtomicUsize::new(0),
            length: AtomicUsize::new(0),
            shrunk: AtomicBool::new(false),
            taken: AtomicBool::new(true),
            next: std::ptr::null(),
        }));
        let at: *mut Range = range;
        let link = |first: *mut Range| {
            // SAFETY: no other thread knows the range until the exchange succeeds.
            unsafe { (*at).next = first };
            Some(at)
        };
        // The closure never returns `None`.
        let _ = RANGES.fetch_update(Ordering::AcqRel, Ordering::Acquire, link);
        // SAFETY: leaked above.
        unsafe { &*at }
    }

    fn release(&self) {
        self.start.store(0, Ordering::Release);
        self.taken.store(false, Ordering::Release);
    }

    /// The addresses from the page of `address` to the end, if that is in this range.
    fn rest(&self, address: usize) -> Option<(usize, usize)> {
        let start = self.start.load(Ordering::Acquire);
        let length = self.length.load(Ordering::Acquire);
        fence(Ordering::SeqCst);
        // A range that is just being reused has no length yet.
        if start == 0 || self.start.load(Ordering::Acquire) != start {
            return None;
        }
        let page = PAGE.load(Ordering::Relaxed);
        let end = start.checked_add(length)?.next_multiple_of(page);
        let from = address / page * page;
        (start..end).contains(&address).then(|| (from, end - from))
    }
}

/// The previous handler.
struct PreviousHandler(UnsafeCell<MaybeUninit<libc::sigaction>>);
// SAFETY: written once, by the call that installs the handler that reads it.
unsafe impl Sync for PreviousHandler {}
static BEFORE: PreviousHandler = PreviousHandler(UnsafeCell::new(MaybeUninit::zeroed()));

/// The size of a page in bytes.
static PAGE: AtomicUsize = AtomicUsize::new(4096);

fn install() {
    // SAFETY: it only queries a value.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    if let Ok(page) = usize::try_from(page) {
        PAGE.store(page, Ordering::Relaxed);
    }
    let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = on_bus;
    // SAFETY: an empty sigaction is all zeros, and its mask is set below.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    // SAFETY: `action` is complete, `BEFORE` has room for the old one, and the handler only makes
    // calls that a handler may make.
    unsafe {
        libc::sigemptyset(&mut action.sa_mask);
        libc::sigaction(libc::SIGBUS, &action, BEFORE.0.get().cast());
    }
}

/// Async-signal-safe: uses only atomics and system calls.
extern "C" fn on_bus(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid structure to a handler with SA_SIGINFO; the address is that
    // of a fault if the code says so.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr() as usize) };
    if code > 0 {
        for range in Range::all() {
            let Some((from, length)) = range.rest(address) else {
                continue;
            };
            range.shrunk.store(true, Ordering::SeqCst);
            let flags = MapFlags::PRIVATE | MapFlags::FIXED | MapFlags::NORESERVE;
            // SAFETY: the addresses are those of a map that is only read and that this thread is
            // reading, so it exists.
            let zeros = unsafe { mmap_anonymous(from as *mut _, length, ProtFlags::READ, flags) };
            if zeros.is_ok() {
                return;
            }
        }
    }
    // SAFETY: `BEFORE` was written when this handler was installed; a handler with SA_SIGINFO takes
    // three arguments.
    unsafe {
        let before = (*BEFORE.0.get()).assume_init_ref();
        match before.sa_sigaction {
            libc::SIG_DFL | libc::SIG_IGN => {
                libc::sigaction(libc::SIGBUS, before, std::ptr::null_mut());
                // A fault occurs again after the return; a signal that was sent does not.
                if code <= 0 {
                    libc::raise(signal);
                }
            }
            handler if before.sa_flags & libc::SA_SIGINFO != 0 => {
                let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
                    std::mem::transmute(handler);
                handler(signal, info, context);
            }
            handler => {
                let handler: extern "C" fn(libc::c_int) = std::mem::transmute(handler);
                handler(signal);
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
mod tests {
    use super::*;
    use std::io::Write;

    /// A file that is one byte longer than the limit of copied files, all bytes 7.
    fn large() -> (tempfile::NamedTempFile, FileBytes) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let length = MAX_COPIED_BYTES as usize + 1;
        file.write_all(&vec![7; length]).unwrap();
        let bytes = FileBytes::read(file.reopen().unwrap(), length as u64).unwrap();
        assert!(matches!(bytes, FileBytes::Mapped(_)));
        (file, bytes)
    }

    #[test]
    fn a_large_file_that_shrinks_reads_as_zeros_and_says_so() {
        let (file, bytes) = large();
        // Another file that stays, and one that is gone: their ranges must not be confused.
        let (_other, stays) = large();
        drop(large());
        assert!(bytes.iter().all(|&byte| byte == 7) && !bytes.shrunk());
        bytes.release_pages();
        file.as_file().set_len(10_000).unwrap();
        assert_eq!(bytes[9_999], 7);
        // From the last remaining page to the end, on several threads at once.
        std::thread::scope(|scope| {
            for from in [12_288, 1 << 20, 15 << 20] {
                let bytes = &bytes;
                scope.spawn(move || assert!(bytes[from..].iter().all(|&byte| byte == 0)));
            }
        });
        assert!(bytes.shrunk());
        // As `cp` does: the file gets shorter, and then as long as before.
        file.as_file().set_len(MAX_COPIED_BYTES + 1).unwrap();
        assert!(bytes.shrunk());
        assert!(stays.iter().all(|&byte| byte == 7) && !stays.shrunk());
    }

    #[test]
    fn shorter_by_less_than_a_page_is_told_too() {
        let (file, bytes) = large();
        file.as_file().set_len(MAX_COPIED_BYTES).unwrap();
        assert!(bytes.shrunk());
    }

    #[test]
    fn a_small_file_is_a_copy() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&[7; 5000]).unwrap();
        let bytes = FileBytes::read(file.reopen().unwrap(), 5000).unwrap();
        file.as_file().set_len(0).unwrap();
        assert!(bytes.len() == 5000 && bytes.iter().all(|&byte| byte == 7));
        assert!(!bytes.shrunk());
    }
}
