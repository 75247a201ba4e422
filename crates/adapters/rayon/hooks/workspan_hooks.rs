//! The points at which this copy of rayon-core reports its scheduler's events to workspan. If no
//! recorder has set hooks, each call is a load and a branch.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The functions to call. Each runs on the worker concerned.
#[derive(Debug)]
pub struct Hooks {
    /// The worker took a job from the deque of the worker with this index, and runs it next.
    pub stolen: fn(usize),
    /// The worker found no job in the deque of that worker, or lost the race for one.
    pub missed: fn(usize),
    /// The worker has run out of jobs of its own and begins to look for others.
    pub idle: fn(),
    /// The worker goes to sleep.
    pub sleeps: fn(),
    /// The worker was woken.
    pub wakes: fn(),
    /// The job that the worker runs waits for a job that another worker has.
    pub waits: fn(),
    /// That wait is over.
    pub waited: fn(),
}

static HOOKS: AtomicPtr<Hooks> = AtomicPtr::new(ptr::null_mut());

/// Sets the functions to call.
pub fn set(hooks: &'static Hooks) {
    HOOKS.store(ptr::from_ref(hooks).cast_mut(), Ordering::Release);
}

#[inline]
fn hooks() -> Option<&'static Hooks> {
    // SAFETY: null, or the `&'static` that was passed to `set`.
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
