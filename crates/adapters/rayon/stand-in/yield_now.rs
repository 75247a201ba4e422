//! `yield_now` and `yield_local`: a job may run in the middle of the caller's strand. The strand
//! ends only if a job does run, so a loop around an idle yield records nothing.

use crate::recording::recorded_thread;
use crate::wire::{primitive, Kind};
use rayon_core_real as real;
use rayon_core_real::Yield;
use std::panic::Location;

/// [`rayon_core_real::yield_now`], recorded.
#[track_caller]
pub fn yield_now() -> Option<Yield> {
    record_yield(Location::caller(), real::yield_now)
}

/// [`rayon_core_real::yield_local`], recorded.
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
        // The job has ended. It cannot have panicked through us, because jobs catch their panics.
        thread.event(Kind::Resume, []);
    }
    result
}
