//! Workers and their pools: how they start and end, and the user's handlers on them.

use crate::abi::{HAS_ROOT, IS_THREAD_TASK, IS_WORKER};
use crate::recording::{recorded_thread, RecordedThread};
use crate::task::ROOT;
use crate::wire::{primitive, Kind};
use rayon_core_real as real;
use std::panic::Location;
use std::ptr;
use std::sync::{Arc, Once, RwLock};

/// A pool that is recorded.
pub(crate) struct Pool {
    /// Its number in the trace.
    pub(crate) number: u32,
    /// For each worker, the number of its thread + 1; 0, or no entry, if it has not started.
    threads: RwLock<Vec<u32>>,
}

impl Pool {
    pub(crate) fn new(number: u32) -> Arc<Self> {
        let threads = RwLock::default();
        Arc::new(Pool { number, threads })
    }

    fn add(&self, index: usize, thread: u32) {
        if let Ok(mut threads) = self.threads.write() {
            if threads.len() <= index {
                threads.resize(index + 1, 0);
            }
            threads[index] = thread + 1;
        }
    }

    /// The number of the thread of the worker with this index + 1; 0 if it is unknown.
    #[cfg(workspan_hooks)]
    pub(crate) fn thread(&self, index: usize) -> u32 {
        let threads = self.threads.read();
        threads.map_or(0, |threads| threads.get(index).copied().unwrap_or(0))
    }
}

impl RecordedThread {
    /// Makes this thread worker `index` of `pool`.
    pub(crate) fn become_worker(&self, pool: &Arc<Pool>, index: usize) {
        pool.add(index, self.number());
        self.leave(self.state().pool.replace(Arc::into_raw(pool.clone())));
        self.state().worker.set(true);
        self.set_flags(IS_WORKER, true);
        self.event(Kind::Worker, [u64::from(pool.number), index as u64]);
    }

    /// Gives up this thread's share of a pool.
    fn leave(&self, pool: *const Pool) {
        if !pool.is_null() {
            // SAFETY: `become_worker` made the pointer from an `Arc`, and it is no longer in the
            // thread's cell.
            drop(unsafe { Arc::from_raw(pool) });
        }
    }

    /// Ends the task that the thread was started for, if there is one.
    fn end_thread_task(&self) {
        if self.has_flag(IS_THREAD_TASK) {
            self.event(Kind::End, []);
            self.state().task.set(ptr::null());
            self.set_flags(HAS_ROOT | IS_THREAD_TASK, false);
        }
    }

    /// Ends this thread's time as a worker.
    fn leave_pool(&self) {
        self.forget_budget();
        self.event(Kind::WorkerEnd, []);
        self.leave(self.state().pool.replace(ptr::null()));
        self.state().worker.set(false);
        self.set_flags(IS_WORKER, false);
    }

    /// Records a new pool: its number of workers, and its site if a call built it.
    pub(crate) fn announce_pool(
        &self,
        pool: u32,
        workers: usize,
        built: Option<&'static Location<'static>>,
    ) {
        let site = built.map_or(0, |at| u64::from(self.find_site(at, primitive::UNKNOWN)) + 1);
        self.event(Kind::Pool, [u64::from(pool), workers as u64 | site << 32]);
    }
}

/// Exists while one of the user's handlers (thread start, exit, panic) runs on an idle worker. If
/// the handler calls Rayon, it begins a root, which ends with the handler.
pub(crate) struct HandlerRoot(Option<RecordedThread>);

impl HandlerRoot {
    pub(crate) fn enter() -> Self {
        HandlerRoot(recorded_thread().filter(|thread| thread.state().task.get().is_null()))
    }
}

impl Drop for HandlerRoot {
    fn drop(&mut self) {
        let Some(thread) = self.0 else { return };
        if thread.state().task.get() == &ROOT as *const _ {
            thread.event(Kind::End, []);
            thread.state().task.set(ptr::null());
            thread.set_flags(HAS_ROOT, false);
        }
    }
}

/// Starts the global pool as Rayon would, with our handlers, so that its workers are known from the
/// start. Called before anything that would make Rayon start it. Does nothing on a worker, or if
/// the pool exists.
pub(crate) fn ensure_global_pool(thread: RecordedThread) {
    static STARTED: Once = Once::new();
    if thread.is_worker() || STARTED.is_completed() {
        return;
    }
    STARTED.call_once(|| {
        let pool = Pool::new((thread.table().pool)());
        let number = pool.number;
        let _starting = StartingWorkers::begin();
        let built = real::ThreadPoolBuilder::new()
            .start_handler(move |index| worker_starts(&pool, index))
            .exit_handler(|_| worker_ends())
            .build_global();
        // An error is not lost: Rayon meets it again in the call that follows.
        if built.is_ok() {
            thread.announce_pool(number, real::current_num_threads(), None);
        }
    });
}

/// Exists while Rayon starts the workers of a pool: the threads that start are not tasks.
pub(crate) struct StartingWorkers(Option<RecordedThread>);

impl StartingWorkers {
    pub(crate) fn begin() -> Self {
        let thread = recorded_thread();
        if let Some(thread) = thread {
            (thread.table().starts_workers)(1);
        }
        StartingWorkers(thread)
    }
}

impl Drop for StartingWorkers {
    fn drop(&mut self) {
        if let Some(thread) = self.0 {
            (thread.table().starts_workers)(0);
        }
    }
}

/// Called first on a new worker.
pub(crate) fn worker_starts(pool: &Arc<Pool>, index: usize) {
    if let Some(thread) = recorded_thread() {
        // A thread that the user's spawn handler started.
        thread.end_thread_task();
        thread.become_worker(pool, index);
    }
}

/// Called last on a worker.
pub(crate) fn worker_ends() {
    if let Some(thread) = recorded_thread() {
        thread.leave_pool();
    }
}
