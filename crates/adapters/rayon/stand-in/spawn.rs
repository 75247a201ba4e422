//! `spawn` and `spawn_fifo`: tasks that nobody waits for.

use crate::recording::{here, Here};
use crate::task::{Child, Seat};
use crate::wire::{create, primitive};
use crate::worker::ensure_global_pool;
use rayon_core_real as real;
use std::panic::Location;

/// As [`rayon_core_real::spawn`].
#[track_caller]
pub fn spawn<F>(func: F)
where
    F: FnOnce() + Send + 'static,
{
    match here() {
        None => real::spawn(func),
        Some(here) => {
            ensure_global_pool(here);
            let child = detached::<F>(here, Location::caller());
            real::spawn(body(child, func));
        }
    }
}

/// As [`rayon_core_real::spawn_fifo`].
#[track_caller]
pub fn spawn_fifo<F>(func: F)
where
    F: FnOnce() + Send + 'static,
{
    match here() {
        None => real::spawn_fifo(func),
        Some(here) => {
            ensure_global_pool(here);
            let child = detached::<F>(here, Location::caller());
            real::spawn_fifo(body(child, func));
        }
    }
}

/// Records the creation of a task that runs an `F`.
pub(crate) fn detached<F>(here: Here, location: &'static Location<'static>) -> Child {
    let task = here.task_of::<F>(location, primitive::SPAWN);
    here.create(task, create::DETACHED, None)
}

/// What the real spawn is given.
pub(crate) fn body<F: FnOnce()>(child: Child, func: F) -> impl FnOnce() {
    move || {
        let mut seat = Seat::empty();
        seat.begin(child);
        func()
    }
}
