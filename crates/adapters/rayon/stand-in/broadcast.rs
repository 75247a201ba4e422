//! `broadcast` and `spawn_broadcast`: one task for each worker, which no other worker may take.

use crate::recording::{recorded_thread, RecordedThread};
use crate::scope::OpenScope;
use crate::task::{Child, TaskFrame};
use crate::wire::{create, primitive};
use crate::worker::ensure_global_pool;
use rayon_core_real as real;
use rayon_core_real::BroadcastContext;
use std::panic::Location;

/// [`rayon_core_real::broadcast`], recorded.
#[track_caller]
pub fn broadcast<OP, R>(op: OP) -> Vec<R>
where
    OP: Fn(BroadcastContext<'_>) -> R + Sync,
    R: Send,
{
    let Some(thread) = recorded_thread() else {
        return real::broadcast(op);
    };
    ensure_global_pool(thread);
    let (first, _open) = waited_for::<OP>(thread, Location::caller(), real::current_num_threads());
    real::broadcast(body(first, op))
}

/// [`rayon_core_real::spawn_broadcast`], recorded.
#[track_caller]
pub fn spawn_broadcast<OP>(op: OP)
where
    OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
{
    let Some(thread) = recorded_thread() else {
        return real::spawn_broadcast(op);
    };
    ensure_global_pool(thread);
    let first = detached::<OP>(thread, Location::caller(), real::current_num_threads());
    real::spawn_broadcast(body(first, op));
}

/// Records that one task is created for each of `workers`. The caller waits for them until the
/// returned scope is dropped.
pub(crate) fn waited_for<OP>(
    thread: RecordedThread,
    location: &'static Location<'static>,
    workers: usize,
) -> (Child, OpenScope) {
    let task = thread.task_of::<OP>(location, primitive::BROADCAST);
    let open = OpenScope::new(thread, task.site);
    let first = thread.create_many(task, create::INLINE, Some(open.id), workers);
    open.wait();
    (first, open)
}

/// Records that one task is created for each of `workers`. No task waits for them.
pub(crate) fn detached<OP>(
    thread: RecordedThread,
    location: &'static Location<'static>,
    workers: usize,
) -> Child {
    let task = thread.task_of::<OP>(location, primitive::BROADCAST);
    thread.create_many(task, create::DETACHED, None, workers)
}

/// The closure for the real broadcast. Worker i runs the i-th child after `first`.
pub(crate) fn body<R, OP>(first: Child, op: OP) -> impl Fn(BroadcastContext<'_>) -> R
where
    OP: Fn(BroadcastContext<'_>) -> R,
{
    move |context| {
        let mut frame = TaskFrame::empty();
        frame.begin(first.after(context.index()));
        op(context)
    }
}
