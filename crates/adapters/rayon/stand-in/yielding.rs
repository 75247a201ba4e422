//! `yield_now` and `yield_local`: a job may run in the middle of the caller's strand. The strand ends only if one does, so
//! that a loop around an idle yield records nothing.

use crate::recording::here;
use crate::wire::{primitive, Kind};
use rayon_core_real as real;
use rayon_core_real::Yield;
use std::panic::Location;

/// As [`rayon_core_real::yield_now`].
#[track_caller]
pub fn yield_now() -> Option<Yield> {
    around(Location::caller(), real::yield_now)
}

/// As [`rayon_core_real::yield_local`].
#[track_caller]
pub fn yield_local() -> Option<Yield> {
    around(Location::caller(), real::yield_local)
}

/// Calls a real yield for the current task.
pub(crate) fn around(
    location: &'static Location<'static>,
    call: impl FnOnce() -> Option<Yield>,
) -> Option<Yield> {
    let Some(here) = here() else { return call() };
    if !here.is_worker() || here.thread().task.get().is_null() {
        return call();
    }
    let site = here.find_site(location, primitive::UNKNOWN);
    here.thread().yielding.set(site + 1);
    let result = call();
    if here.thread().yielding.replace(0) == 0 {
        // What ran has ended; it cannot have panicked into us, as jobs catch their panics.
        here.event(Kind::Resume, []);
    }
    result
}
