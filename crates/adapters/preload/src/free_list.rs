//! Memory for per-thread caches, which a thread gets at its first lookup. Thread-local storage of a
//! preloaded library would be taken from every thread's stack, and a program may give its threads
//! very small stacks.
//!
//! A new thread reuses the memory of a thread that has ended, including its contents, which are
//! valid for it too.

use core::alloc::Layout;
use std::sync::Mutex;

use workspan_recorder::adapter;

/// A list of values of one type; a value of zeros is an empty cache.
pub(crate) struct FreeList<T>(Mutex<Vec<*mut T>>);

// SAFETY: the values in the list are used by no thread.
unsafe impl<T> Sync for FreeList<T> {}

impl<T> FreeList<T> {
    pub(crate) const fn new() -> FreeList<T> {
        FreeList(Mutex::new(Vec::new()))
    }

    /// A value for the calling thread, which [gives it back](FreeList::give_back) when it ends.
    /// Null if the thread is not recorded, if its end would not be noticed, or if there is no
    /// memory.
    #[cold]
    pub(crate) fn take(&self) -> *mut T {
        if !adapter::is_recorded() {
            return core::ptr::null_mut();
        }
        let _errno = adapter::KeepErrno::new();
        let free = self.0.lock().ok().and_then(|mut free| free.pop());
        // SAFETY: the type's size is not 0.
        free.unwrap_or_else(|| unsafe { std::alloc::alloc_zeroed(Layout::new::<T>()).cast() })
    }

    /// Gives back a value that the calling thread no longer uses.
    pub(crate) fn give_back(&self, value: *mut T) {
        if !value.is_null()
            && let Ok(mut free) = self.0.lock()
        {
            free.push(value);
        }
    }
}

/// Called once, before any thread looks anything up.
pub(crate) fn give_back_at_thread_ends() {
    adapter::at_thread_ends(|| {
        crate::site_cache::thread_ends();
        crate::tbb::thread_ends();
    });
}
