//! The C library's functions that this library interposes.

use core::ffi::{CStr, c_char, c_void};
use core::marker::PhantomData;
use core::sync::atomic::{AtomicUsize, Ordering};

/// The handle for lookups in the files after this library.
pub(crate) const RTLD_NEXT: *mut c_void = usize::MAX as *mut c_void;

unsafe extern "C" {
    pub(crate) fn dlsym(scope: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// The address of the next symbol with this name: the definition that the loader would have used
/// without ours; 0 if there is none.
pub(crate) fn look_up(name: &CStr) -> usize {
    // SAFETY: the name is a C string.
    unsafe { dlsym(RTLD_NEXT, name.as_ptr()) as usize }
}

/// A next symbol of type `F`, a pointer to a function. Its address is looked up once and cached.
pub(crate) struct LibcSymbol<F> {
    name: &'static CStr,
    address: AtomicUsize,
    as_type: PhantomData<F>,
}

// SAFETY: it holds a name and an atomic.
unsafe impl<F> Sync for LibcSymbol<F> {}

impl<F: Copy> LibcSymbol<F> {
    /// The function with this name, before it is looked up.
    ///
    /// # Safety
    /// `F` is the function's type in the C library.
    pub(crate) const unsafe fn new(name: &'static CStr) -> LibcSymbol<F> {
        LibcSymbol {
            name,
            address: AtomicUsize::new(0),
            as_type: PhantomData,
        }
    }

    /// The function; `None` if the C library does not have it. The first call uses the loader,
    /// whose lock another thread may hold later. So it must be made at the start.
    pub(crate) fn get(&self) -> Option<F> {
        let mut address = self.address.load(Ordering::Acquire);
        if address == 0 {
            address = look_up(self.name);
            self.address.store(address, Ordering::Release);
        }
        // SAFETY: the caller of `new` guaranteed the type, and the address is not null.
        (address != 0).then(|| unsafe { core::mem::transmute_copy(&address) })
    }
}
