//! `spawn` and `spawn_fifo`: tasks that no task waits for.

use crate::recording::{recorded_thread, RecordedThread};
use crate::task::{Child, TaskFrame};
use crate::wire::{create, primitive};
use crate::worker::ensure_global_pool;
use rayon_core_real as real;
use std::panic::Location;

/// [`rayon_core_real::spawn`], recorded.
#[track_caller]
pub fn spawn<F>(func: F)
where
    F: FnOnce() + Send + 'static,
{
    match recorded_thread() {
        None => real::spawn(func),
        Some(thread) => {
            ensure_global_pool(thread);
            let child = detached::<F>(thread, Location::caller());
            real::spawn(body(child, func));
        }
    }
}

/// [`rayon_core_real::spawn_fifo`], recorded.
#[track_caller]
pub fn spawn_fifo<F>(func: F)
where
    F: FnOnce() + Send + 'static,
{
    match recorded_thread() {
        None => real::spawn_fifo(func),
        Some(thread) => {
            ensure_global_pool(thread);
            let child = detached::<F>(thread, Location::caller());
            real::spawn_fifo(body(child, func));
        }
    }
}

/// Records that a task that runs an `F` is created.
pub(crate) fn detached<F>(thread: RecordedThread, location: &'static Location<'static>) -> Child {
    let task = thread.task_of::<F>(location, primitive::SPAWN);
    thread.create(task, create::DETACHED, None)
}

/// The closure for the real spawn.
pub(crate) fn body<F: FnOnce()>(child: Child, func: F) -> impl FnOnce() {
    move || {
        let mut frame = TaskFrame::empty();
        frame.begin(child);
        func()
    }
}
