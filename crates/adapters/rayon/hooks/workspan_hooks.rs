//! Where this copy of rayon-core tells workspan what its scheduler does. Nobody has to listen: then each call is a load
//! and a branch.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// What is called, each on the worker that it is about.
#[derive(Debug)]
pub struct Hooks {
    /// It took a job from the deque of the worker of that index, and runs it next.
    pub stolen: fn(usize),
    /// It found nothing to take in the deque of that worker, or lost the race for it.
    pub missed: fn(usize),
    /// It has run out of jobs of its own and starts to look for others.
    pub idle: fn(),
    /// It goes to sleep.
    pub sleeps: fn(),
    /// It has been woken.
    pub wakes: fn(),
    /// What it runs waits for a job that another worker has.
    pub waits: fn(),
    /// That is over.
    pub waited: fn(),
}

static HOOKS: AtomicPtr<Hooks> = AtomicPtr::new(ptr::null_mut());

/// From now on these are called.
pub fn set(hooks: &'static Hooks) {
    HOOKS.store(ptr::from_ref(hooks).cast_mut(), Ordering::Release);
}

#[inline]
fn hooks() -> Option<&'static Hooks> {
    // SAFETY: null, or what `set` was given: a shared reference that holds for ever.
    unsafe { HOOKS.load(Ordering::Acquire).as_ref() }
}

#[inline]
pub(crate) fn stolen(victim: usize) {
    if let Some(hooks) = hooks() {
        (hooks.stolen)(victim)
    }
}

#[inline]
pub(crate) fn missed(victim: usize) {
    if let Some(hooks) = hooks() {
        (hooks.missed)(victim)
    }
}

#[inline]
pub(crate) fn idle() {
    if let Some(hooks) = hooks() {
        (hooks.idle)()
    }
}

#[inline]
pub(crate) fn sleeps() {
    if let Some(hooks) = hooks() {
        (hooks.sleeps)()
    }
}

#[inline]
pub(crate) fn wakes() {
    if let Some(hooks) = hooks() {
        (hooks.wakes)()
    }
}

#[inline]
pub(crate) fn waits() {
    if let Some(hooks) = hooks() {
        (hooks.waits)()
    }
}

#[inline]
pub(crate) fn waited() {
    if let Some(hooks) = hooks() {
        (hooks.waited)()
    }
}
