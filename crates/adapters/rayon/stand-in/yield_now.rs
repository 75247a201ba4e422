//! `yield_now` and `yield_local`: a job may run in the middle of the caller's strand. The strand ends only if one does, so
//! that a loop around an idle yield records nothing.

use crate::recording::recorded_thread;
use crate::wire::{primitive, Kind};
use rayon_core_real as real;
use rayon_core_real::Yield;
use std::panic::Location;

/// As [`rayon_core_real::yield_now`].
#[track_caller]
pub fn yield_now() -> Option<Yield> {
    record_yield(Location::caller(), real::yield_now)
}

/// As [`rayon_core_real::yield_local`].
#[track_caller]
pub fn yield_local() -> Option<Yield> {
    record_yield(Location::caller(), real::yield_local)
}

/// Calls a real yield for the current task.
pub(crate) fn record_yield(
    location: &'static Location<'static>,
    call: impl FnOnce() -> Option<Yield>,
) -> Option<Yield> {
    let Some(thread) = recorded_thread() else { return call() };
    if !thread.is_worker() || thread.state().task.get().is_null() {
        return call();
    }
    let site = thread.find_site(location, primitive::UNKNOWN);
    thread.state().yielding.set(site + 1);
    let result = call();
    if thread.state().yielding.replace(0) == 0 {
        // What ran has ended; it cannot have panicked into us, as jobs catch their panics.
        thread.event(Kind::Resume, []);
    }
    result
}
