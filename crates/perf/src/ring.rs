//! One event's ring buffer, shared with the kernel.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use perf_event_open_sys::bindings::perf_event_mmap_page;

/// Size of a ring in bytes. With its control page it is within the 516 KiB that an ordinary user
/// may lock per CPU.
pub(crate) const DATA_BYTES: usize = 64 * 4096;
/// Size in bytes of the ring for stacks at context switches. Both rings together are within what an
/// ordinary user may lock.
pub(crate) const STOPS_BYTES: usize = 32 * 4096;

/// A mapped ring.
pub(crate) struct Ring {
    /// The CPU of its event; -1 for an event of any CPU.
    pub(crate) cpu: i32,
    fd: OwnedFd,
    page: *mut perf_event_mmap_page,
    page_size: usize,
    length: usize,
}

impl Ring {
    /// Maps the ring of an event on `cpu`.
    pub(crate) fn map((cpu, fd): (i32, OwnedFd)) -> io::Result<Ring> {
        Self::map_bytes((cpu, fd), DATA_BYTES)
    }

    /// Maps a ring of `bytes` bytes, which must be a power of two of pages.
    pub(crate) fn map_bytes((cpu, fd): (i32, OwnedFd), bytes: usize) -> io::Result<Ring> {
        // SAFETY: sysconf has no preconditions.
        let page_size =
            usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
        let length = page_size + bytes.next_multiple_of(page_size);
        // SAFETY: a new shared mapping of a descriptor we own, at an address the kernel picks.
        let page = unsafe {
            libc::mmap(
                ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                fd.as_raw_fd(),
                0,
            )
        };
        if page == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Ring {
            cpu,
            fd,
            page: page.cast(),
            page_size,
            length,
        })
    }

    pub(crate) fn raw_fd(&self) -> i32 {
        self.fd.as_raw_fd()
    }

    /// Calls `f(type, misc, body)` for each record in the ring, and frees its space for the kernel.
    pub(crate) fn drain(&mut self, mut f: impl FnMut(u32, u16, &[u8])) {
        let size = self.length - self.page_size;
        // SAFETY: the control page is mapped while self lives; the kernel writes `data_head` and
        // reads `data_tail` as 64-bit words, with the ordering of acquire and release.
        let (head_at, tail_at) = unsafe {
            (
                AtomicU64::from_ptr(ptr::addr_of_mut!((*self.page).data_head)),
                AtomicU64::from_ptr(ptr::addr_of_mut!((*self.page).data_tail)),
            )
        };
        let head = head_at.load(Ordering::Acquire);
        let mut tail = tail_at.load(Ordering::Relaxed);
        let mut record = Vec::with_capacity(64);
        while head.wrapping_sub(tail) >= 8 {
            let mut header = [0u8; 8];
            self.copy(tail, size, &mut header);
            let [k0, k1, k2, k3, m0, m1, s0, s1] = header;
            let length = u64::from(u16::from_le_bytes([s0, s1]));
            if length < 8 || length > head.wrapping_sub(tail) {
                tail = head;
                break;
            }
            record.resize(length as usize, 0);
            self.copy(tail, size, &mut record);
            f(
                u32::from_le_bytes([k0, k1, k2, k3]),
                u16::from_le_bytes([m0, m1]),
                &record[8..],
            );
            tail = tail.wrapping_add(length);
        }
        tail_at.store(tail, Ordering::Release);
    }

    /// Copies bytes from ring position `at`, which may wrap around the end.
    fn copy(&self, at: u64, size: usize, out: &mut [u8]) {
        let data = self.page.cast::<u8>().wrapping_add(self.page_size);
        let from = (at % size as u64) as usize;
        let first = out.len().min(size - from);
        // SAFETY: both parts lie inside the mapping's `size` data bytes, and the kernel does not
        // write between tail and head.
        unsafe {
            ptr::copy_nonoverlapping(data.add(from), out.as_mut_ptr(), first);
            ptr::copy_nonoverlapping(data, out.as_mut_ptr().add(first), out.len() - first);
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: our own mapping, not used after this.
        unsafe { libc::munmap(self.page.cast(), self.length) };
    }
}
