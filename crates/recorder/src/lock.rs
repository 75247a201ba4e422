//! A lock that a program's thread sanitizer knows about.
//!
//! The sanitizer sees the memory accesses of the program and of the C library, including ours where
//! we call `memcmp`, `malloc` or `free`. It does not see the atomics of a lock that was compiled
//! without it, so it would report accesses that the lock orders as races in the program. Taking and
//! releasing the lock is therefore reported to the sanitizer, if there is one (`__tsan_acquire`,
//! `__tsan_release` of its public interface).

use core::ffi::{CStr, c_char, c_void};
use core::ops::{Deref, DerefMut};
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, MutexGuard};

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// `RTLD_DEFAULT`: any library of the process.
const DEFAULT: *mut c_void = ptr::null_mut();

static ACQUIRE: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
static RELEASE: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// Looks up the sanitizer's functions. Not done when a lock is taken, because the loader may call
/// us then.
pub(crate) fn find_sanitizer() {
    let find = |name: &CStr| {
        // SAFETY: a name that ends in a zero; the handle is one that is always valid.
        unsafe { dlsym(DEFAULT, name.as_ptr()) }
    };
    RELEASE.store(find(c"__tsan_release"), Ordering::Relaxed);
    ACQUIRE.store(find(c"__tsan_acquire"), Ordering::Relaxed);
}

/// Whether the program has a thread sanitizer, as found by [`find_sanitizer`].
pub(crate) fn has_sanitizer() -> bool {
    !ACQUIRE.load(Ordering::Relaxed).is_null()
}

fn tell(function: &AtomicPtr<c_void>, at: *const c_void) {
    let function = function.load(Ordering::Relaxed);
    if !function.is_null() {
        // SAFETY: the sanitizer's functions take an address, from which they read nothing, and
        // return nothing.
        unsafe {
            let function: unsafe extern "C" fn(*const c_void) = core::mem::transmute(function);
            function(at);
        }
    }
}

/// A value behind a lock.
#[derive(Debug, Default)]
pub(crate) struct Lock<T>(Mutex<T>);

/// The value while the lock is held.
pub(crate) struct Guard<'a, T> {
    value: MutexGuard<'a, T>,
    at: *const c_void,
}

/// A thread panicked while it held the lock.
#[derive(Debug)]
pub(crate) struct Poisoned;

impl<T> Lock<T> {
    pub(crate) const fn new(value: T) -> Lock<T> {
        Lock(Mutex::new(value))
    }

    /// Waits for the lock and takes it.
    pub(crate) fn lock(&self) -> Result<Guard<'_, T>, Poisoned> {
        let value = self.0.lock().map_err(|_| Poisoned)?;
        let at = ptr::from_ref(self).cast();
        tell(&ACQUIRE, at);
        Ok(Guard { value, at })
    }
}

impl<T> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        tell(&RELEASE, self.at);
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

#[cfg(test)]
mod tests {
    use super::Lock;

    #[test]
    fn all_that_threads_add_is_there() {
        super::find_sanitizer();
        let sum = Lock::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..1000 {
                        if let Ok(mut sum) = sum.lock() {
                            *sum += 1;
                        }
                    }
                });
            }
        });
        assert_eq!(sum.lock().map(|sum| *sum).ok(), Some(4000));
    }
}
