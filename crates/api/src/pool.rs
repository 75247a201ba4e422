//! Pools, their workers, and what a scheduler does.

use core::marker::PhantomData;

use crate::table::{Number, table};
use crate::task::Task;

/// A pool of workers; it exists until this is dropped.
#[derive(Debug)]
pub struct Pool(Number);

impl Pool {
    /// A pool of so many workers begins.
    #[inline]
    pub fn new(workers: u32) -> Pool {
        Pool(table().map_or(Number::default(), |t| {
            Number::new(u64::from((t.pool_begin)(workers)))
        }))
    }

    /// The calling thread is its worker `index` until the guard is dropped.
    #[inline]
    pub fn worker(&self, index: u32) -> Worker {
        if let Some(table) = table() {
            (table.worker_begin)(self.0.get() as u32, index);
        }
        Worker {
            _of_this_thread: PhantomData,
        }
    }
}

impl Drop for Pool {
    #[inline]
    fn drop(&mut self) {
        if let Some(table) = table() {
            (table.pool_end)(self.0.get() as u32);
        }
    }
}

/// The calling thread is a pool's worker until this is dropped.
#[derive(Debug)]
#[must_use = "the thread is no worker any more when this is dropped"]
pub struct Worker {
    _of_this_thread: PhantomData<*const ()>,
}

impl Drop for Worker {
    #[inline]
    fn drop(&mut self) {
        if let Some(table) = table() {
            (table.worker_end)();
        }
    }
}

/// A thread, as others may name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thread(Number);

/// The calling thread.
#[inline]
pub fn thread() -> Thread {
    Thread(table().map_or(Number::default(), |t| {
        Number::new(u64::from((t.thread_number)()))
    }))
}

/// This thread took `task` from `victim`'s queue.
#[inline]
pub fn steal(task: Task, victim: Thread) {
    if let Some(table) = table() {
        (table.steal)(victim.0.get() as u32, 0, task.0.get());
    }
}

/// This thread looked in `victim`'s queue and found nothing.
#[inline]
pub fn steal_failed(victim: Thread) {
    if let Some(table) = table() {
        (table.steal_failed)(victim.0.get() as u32);
    }
}

/// The worker sleeps, in `blocking`, for want of work.
#[inline]
pub fn sleep<R>(blocking: impl FnOnce() -> R) -> R {
    let Some(table) = table() else {
        return blocking();
    };
    (table.sleep)();
    let result = blocking();
    (table.wake)();
    result
}
