//! What a thread has looked up before, in memory that it gets when it first looks something up: thread-local storage of a preloaded
//! library is taken from every thread's stack, and a program may give its threads very little of that.
//!
//! The memory of a thread that ends serves the next one as it is: all that is kept there is as true for that one.

use core::alloc::Layout;
use std::sync::Mutex;

use workspan_recorder::adapter;

/// Memory for values of one type, whose zeros are an empty one.
pub(crate) struct FreeList<T>(Mutex<Vec<*mut T>>);

// SAFETY: the values in it belong to no thread.
unsafe impl<T> Sync for FreeList<T> {}

impl<T> FreeList<T> {
    pub(crate) const fn new() -> FreeList<T> {
        FreeList(Mutex::new(Vec::new()))
    }

    /// One for the calling thread, which [gives it back](FreeList::give_back) when it ends. Null for a thread that is not recorded, or
    /// will not be told of its end any more, and where there is no memory.
    #[cold]
    pub(crate) fn take(&self) -> *mut T {
        if adapter::handle().is_null() {
            return core::ptr::null_mut();
        }
        let _errno = adapter::KeepErrno::new();
        let free = self.0.lock().ok().and_then(|mut free| free.pop());
        // SAFETY: the layout is of a type that has a size.
        free.unwrap_or_else(|| unsafe { std::alloc::alloc_zeroed(Layout::new::<T>()).cast() })
    }

    /// The calling thread does not use it any more.
    pub(crate) fn give_back(&self, value: *mut T) {
        if !value.is_null()
            && let Ok(mut free) = self.0.lock()
        {
            free.push(value);
        }
    }
}

/// Called once, before any thread looks something up.
pub(crate) fn give_back_at_thread_ends() {
    adapter::at_thread_ends(|| {
        crate::site_cache::thread_ends();
        crate::tbb::thread_ends();
    });
}
