//! Memory that is empty in a forked child, so that the child can't write into its parent's trace.
//!
//! A child has its parent's handles, and they point into chunks that both share. `pthread_atfork`
//! tells of `fork` alone: `_Fork` and system calls made directly run no handlers. So the kernel is
//! asked (`MADV_WIPEONFORK`, Linux 4.14) to give every child zeros in place of whatever leads to a
//! chunk:
//!
//! * the word that says whether this process records ([`State`]), whose 0 is *off*: a child makes
//!   no handle and names nothing;
//! * the threads' handles with all the recorder keeps for them ([`piece`]). A handle of zeros has
//!   no room, so the first record of the child comes to [`refill`](crate::front::Table::refill),
//!   which gives the handle scratch memory.

use core::ffi::c_void;
use core::ops::Deref;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicU8};

use crate::lock::Lock;
use crate::system;

/// Whether the kernel empties it: all that there was to ask for was granted so far.
static EMPTIED: AtomicBool = AtomicBool::new(false);

/// Whether children are told apart by their memory alone, without a system call.
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
    /// All zeros, so that it lies in memory of no file.
    pub(crate) const fn new() -> State {
        State {
            state: AtomicU8::new(0),
            rest: [0; PAGE - 1],
        }
    }

    /// From now on it is 0 in children. Called once, before the recording is on.
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

/// False where the kernel does not do that.
fn empty_in_children(at: *mut c_void, size: usize) -> bool {
    // SAFETY: whole pages of ours that no file is behind; their contents stay as they are.
    !cfg!(miri) && unsafe { system::madvise(at, size, system::MADV_WIPEONFORK) } == 0
}

/// Memory for several handles is taken at a time.
const SLAB: usize = 64 << 10;

/// What is left of the last slab: its next free byte, and how many there are.
static LEFT: Lock<(usize, usize)> = Lock::new((0, 0));

/// Zeroed memory for a `T`, which children find empty. It is never given back. `None` when there is
/// none.
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
