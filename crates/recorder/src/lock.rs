//! A lock that a program's thread sanitizer knows of.
//!
//! The sanitizer sees the program's and the C library's memory accesses, ours among them where we
//! call `memcmp`, `malloc` or `free`, but not the atomics of a lock that was compiled without it:
//! what the lock orders it would report as a race in the program. So taking and letting go are told
//! to it where it is there (`__tsan_acquire`, `__tsan_release` of its public interface).

use core::ffi::{CStr, c_char, c_void};
use core::ops::{Deref, DerefMut};
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, MutexGuard};

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// `RTLD_DEFAULT`: whoever of the process has it.
const DEFAULT: *mut c_void = ptr::null_mut();

static ACQUIRE: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
static RELEASE: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// Looks for the sanitizer. Not done when a lock is taken, as the loader may call us then.
pub(crate) fn find_sanitizer() {
    let find = |name: &CStr| {
        // SAFETY: a name that ends in a zero; the handle is one that is always valid.
        unsafe { dlsym(DEFAULT, name.as_ptr()) }
    };
    RELEASE.store(find(c"__tsan_release"), Ordering::Relaxed);
    ACQUIRE.store(find(c"__tsan_acquire"), Ordering::Relaxed);
}

/// Whether the program has a thread sanitizer, as far as [`find_sanitizer`] found.
pub(crate) fn has_sanitizer() -> bool {
    !ACQUIRE.load(Ordering::Relaxed).is_null()
}

fn tell(function: &AtomicPtr<c_void>, at: *const c_void) {
    let function = function.load(Ordering::Relaxed);
    if !function.is_null() {
        // SAFETY: the sanitizer's own functions take an address, of which they read nothing, and
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

/// The value while it is ours.
pub(crate) struct Guard<'a, T> {
    value: MutexGuard<'a, T>,
    at: *const c_void,
}

/// A thread panicked while it had the value.
#[derive(Debug)]
pub(crate) struct Poisoned;

impl<T> Lock<T> {
    pub(crate) const fn new(value: T) -> Lock<T> {
        Lock(Mutex::new(value))
    }

    /// Waits until nobody else has the value.
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
