//! Remembers the address of a function in each copy of a runtime.

use core::ffi::CStr;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use super::{Instance, RuntimeCopies};
use crate::loaded_files;

/// A function of a family of runtimes.
pub(crate) struct Function {
    pub(crate) name: &'static CStr,
    /// Its address in the only runtime; 0 if that was not looked up.
    in_only: AtomicUsize,
    /// A list of its addresses in all copies in which it was looked up.
    found: AtomicPtr<CachedAddress>,
}

struct CachedAddress {
    next: *mut CachedAddress,
    instance: *const Instance,
    address: usize,
}

impl Function {
    pub(crate) const fn new(name: &'static CStr) -> Function {
        Function {
            name,
            in_only: AtomicUsize::new(0),
            found: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Its address in the only runtime; 0 if that is unknown or if there are several runtimes.
    #[inline(always)]
    pub(crate) fn in_only(&self) -> usize {
        self.in_only.load(Ordering::Acquire)
    }

    /// Discards the address: the family has another runtime, or several.
    pub(crate) fn forget(&self) {
        self.in_only.store(0, Ordering::Release);
    }

    /// Its address in this runtime; 0 if the runtime does not have it.
    #[cold]
    pub(crate) fn find_in(&self, family: &RuntimeCopies, instance: &'static Instance) -> usize {
        let mut next = self.found.load(Ordering::Acquire);
        // SAFETY: null or an entry of the list, and entries are never freed.
        while let Some(found) = unsafe { next.as_ref() } {
            if ptr::eq(found.instance, instance) {
                self.remember_if_only(family, instance, found.address);
                return found.address;
            }
            next = found.next;
        }
        let Some(address) = instance.function(family, self.name) else {
            return 0;
        };
        let fresh = Box::into_raw(Box::new(CachedAddress {
            next: ptr::null_mut(),
            instance,
            address,
        }));
        let mut first = self.found.load(Ordering::Acquire);
        loop {
            // SAFETY: the entry is not published yet, so only this thread has it.
            unsafe { (*fresh).next = first };
            match self
                .found
                .compare_exchange(first, fresh, Ordering::AcqRel, Ordering::Acquire)
            {
                Ok(_) => break,
                Err(other) => first = other,
            }
        }
        self.remember_if_only(family, instance, address);
        address
    }

    /// Saves the next lookup if the runtime is the only one. That is checked under the loader's
    /// lock, because it can change only under that lock.
    fn remember_if_only(
        &self,
        family: &RuntimeCopies,
        instance: &'static Instance,
        address: usize,
    ) {
        if family.has_several() {
            return;
        }
        loaded_files::with(|_| {
            if ptr::eq(family.only.load(Ordering::Relaxed), instance) {
                self.in_only.store(address, Ordering::Release);
            }
        });
    }
}
