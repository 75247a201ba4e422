//! Memory that is empty in a forked child, so that the child can't write into its parent's trace.
//!
//! A child has its parent's handles, and they point into chunks that both share. `pthread_atfork`
//! handles only `fork`: `_Fork` and direct system calls run no handlers. So the kernel is asked
//! (`MADV_WIPEONFORK`, Linux 4.14) to give every child zeros in place of everything that leads to a
//! chunk:
//!
//! * the word that says whether this process records ([`State`]), whose 0 is *off*: a child makes
//!   no handle and interns nothing;
//! * the threads' handles with everything that the recorder keeps for them ([`piece`]). A handle of
//!   zeros has no room, so the child's first record goes to
//!   [`refill`](crate::abi::Table::refill), which gives the handle scratch memory.

use core::ffi::c_void;
use core::ops::Deref;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicU8};

use crate::lock::Lock;
use crate::system;

/// Whether the kernel empties the memory: it has granted all requests so far.
static EMPTIED: AtomicBool = AtomicBool::new(false);

/// Whether memory is known to be empty in children, so that no system call is needed to detect one.
pub(crate) fn children_are_empty() -> bool {
    EMPTIED.load(core::sync::atomic::Ordering::Relaxed)
}

/// The largest page of the architecture: only whole pages can be emptied.
const PAGE: usize = if cfg!(target_arch = "x86_64") {
    4 << 10
} else {
    64 << 10
};

/// A byte with a page of its own.
#[cfg_attr(target_arch = "x86_64", repr(C, align(4096)))]
#[cfg_attr(not(target_arch = "x86_64"), repr(C, align(65536)))]
pub(crate) struct State {
    state: AtomicU8,
    rest: [u8; PAGE - 1],
}

impl State {
    /// All zeros, so that the byte is in memory without a file behind it.
    pub(crate) const fn new() -> State {
        State {
            state: AtomicU8::new(0),
            rest: [0; PAGE - 1],
        }
    }

    /// Makes the byte 0 in children from now on. Called once, before the recording is on.
    pub(crate) fn empty_in_children(&'static self) {
        let at = ptr::from_ref(self).cast_mut().cast::<c_void>();
        let emptied = empty_in_children(at, size_of::<State>());
        EMPTIED.store(emptied, core::sync::atomic::Ordering::Relaxed);
    }
}

impl Deref for State {
    type Target = AtomicU8;
    #[inline(always)]
    fn deref(&self) -> &AtomicU8 {
        debug_assert!(self.rest.len() < PAGE);
        &self.state
    }
}

/// Makes memory empty in children. Returns false if the kernel cannot do that.
fn empty_in_children(at: *mut c_void, size: usize) -> bool {
    // SAFETY: whole pages of ours without a file behind them; their contents stay as they are.
    !cfg!(miri) && unsafe { system::madvise(at, size, system::MADV_WIPEONFORK) } == 0
}

/// The size in bytes of a slab, which serves several handles.
const SLAB: usize = 64 << 10;

/// The unused rest of the last slab: its next free byte, and its size.
static LEFT: Lock<(usize, usize)> = Lock::new((0, 0));

/// Zeroed memory for a `T`, which is empty in children. It is never freed. `None` if there is no
/// memory.
pub(crate) fn piece<T>() -> Option<*mut T> {
    const { assert!(align_of::<T>() <= 64 && size_of::<T>() < SLAB) }
    let size = size_of::<T>().next_multiple_of(64);
    let mut left = LEFT.lock().ok()?;
    if left.1 < size {
        *left = (slab()?, SLAB);
    }
    let at = left.0;
    *left = (at + size, left.1 - size);
    Some(ptr::with_exposed_provenance_mut(at))
}

fn slab() -> Option<usize> {
    if cfg!(miri) {
        let slab: Box<[u64]> = vec![0; SLAB / size_of::<u64>()].into_boxed_slice();
        return Some(Box::leak(slab).as_mut_ptr().expose_provenance());
    }
    // SAFETY: fresh memory; the kernel picks the address.
    let at = unsafe {
        system::mmap(
            ptr::null_mut(),
            SLAB,
            system::PROT_READ_WRITE,
            system::MAP_PRIVATE | system::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    if at as isize == -1 {
        return None;
    }
    if !empty_in_children(at, SLAB) {
        EMPTIED.store(false, core::sync::atomic::Ordering::Relaxed);
    }
    Some(at.expose_provenance())
}
