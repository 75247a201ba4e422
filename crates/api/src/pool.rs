//! Pools, their workers, and the events of a scheduler.

use core::marker::PhantomData;

use crate::table::{Number, table};
use crate::task::Task;

/// A pool of workers. It exists until this is dropped.
///
/// ```
/// let pool = workspan_api::Pool::new(1);
/// std::thread::scope(|threads| {
///     threads.spawn(|| {
///         let _worker = pool.worker(0);
///         // Run tasks here.
///     });
/// });
/// ```
#[derive(Debug)]
pub struct Pool(Number);

impl Pool {
    /// Begins a pool with this number of workers.
    ///
    /// ```
    /// let pool = workspan_api::Pool::new(4);
    /// ```
    #[inline]
    pub fn new(workers: u32) -> Pool {
        Pool(table().map_or(Number::default(), |t| {
            Number::new(u64::from((t.pool_begin)(workers)))
        }))
    }

    /// Makes the calling thread worker `index` of the pool, until the guard is dropped.
    ///
    /// ```
    /// let pool = workspan_api::Pool::new(1);
    /// let _worker = pool.worker(0);
    /// ```
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
///
/// ```
/// let pool = workspan_api::Pool::new(1);
/// let worker: workspan_api::Worker = pool.worker(0);
/// drop(worker);
/// ```
#[derive(Debug)]
#[must_use = "the thread stops being a worker when this is dropped"]
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

/// A thread that others can name, for example as the victim of a steal.
///
/// ```
/// let me: workspan_api::Thread = workspan_api::thread();
/// assert_eq!(me, workspan_api::thread());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thread(Number);

/// The calling thread.
///
/// ```
/// let victim = workspan_api::thread();
/// std::thread::spawn(move || workspan_api::steal_failed(victim)).join().unwrap();
/// ```
#[inline]
pub fn thread() -> Thread {
    Thread(table().map_or(Number::default(), |t| {
        Number::new(u64::from((t.thread_number)()))
    }))
}

/// This thread took `task` from `victim`'s queue.
///
/// ```
/// let (task, victim) = (workspan_api::Task::create(), workspan_api::thread());
/// std::thread::spawn(move || {
///     workspan_api::steal(task, victim);
///     drop(task.begin());
/// })
/// .join()
/// .unwrap();
/// ```
#[inline]
pub fn steal(task: Task, victim: Thread) {
    if let Some(table) = table() {
        (table.steal)(victim.0.get() as u32, 0, task.0.get());
    }
}

/// This thread looked into `victim`'s queue and found nothing.
///
/// ```
/// workspan_api::steal_failed(workspan_api::thread());
/// ```
#[inline]
pub fn steal_failed(victim: Thread) {
    if let Some(table) = table() {
        (table.steal_failed)(victim.0.get() as u32);
    }
}

/// The worker sleeps in `blocking` because it has no work.
///
/// ```
/// let (send, receive) = std::sync::mpsc::channel();
/// send.send(7).unwrap();
/// assert_eq!(workspan_api::sleep(|| receive.recv()), Ok(7));
/// ```
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
