//! Builds pools. The user's handlers are stored separately until the pool is built; then ours wrap
//! them. Until then the real builder has placeholders, so that its `Debug` output shows which
//! handlers the user has set.

use crate::pool::ThreadPool;
use crate::recording::recorded_thread;
use crate::worker::{worker_ends, worker_starts, HandlerRoot, Pool, StartingWorkers};
use rayon_core_real as real;
use rayon_core_real::{ThreadBuilder, ThreadPoolBuildError};
use std::any::Any;
use std::fmt;
use std::io;
use std::panic::Location;
use std::sync::Arc;

type ThreadHandler = dyn Fn(usize) + Send + Sync;
type PanicHandler = dyn Fn(Box<dyn Any + Send>) + Send + Sync;

/// How a pool's threads are started. Public in a private module, as in the real crate.
pub trait ThreadSpawn {
    #[doc(hidden)]
    fn build(
        self,
        builder: real::ThreadPoolBuilder,
    ) -> Result<real::ThreadPool, ThreadPoolBuildError>;
    #[doc(hidden)]
    fn build_global(self, builder: real::ThreadPoolBuilder) -> Result<(), ThreadPoolBuildError>;
}

/// Threads are started by `std`.
#[derive(Debug, Default)]
pub struct DefaultSpawn;

/// Threads are started by the user's closure.
#[derive(Debug)]
pub struct CustomSpawn<F>(F);

impl ThreadSpawn for DefaultSpawn {
    fn build(
        self,
        builder: real::ThreadPoolBuilder,
    ) -> Result<real::ThreadPool, ThreadPoolBuildError> {
        builder.build()
    }
    fn build_global(self, builder: real::ThreadPoolBuilder) -> Result<(), ThreadPoolBuildError> {
        builder.build_global()
    }
}

impl<F> ThreadSpawn for CustomSpawn<F>
where
    F: FnMut(ThreadBuilder) -> io::Result<()>,
{
    fn build(
        self,
        builder: real::ThreadPoolBuilder,
    ) -> Result<real::ThreadPool, ThreadPoolBuildError> {
        builder.spawn_handler(self.0).build()
    }
    fn build_global(self, builder: real::ThreadPoolBuilder) -> Result<(), ThreadPoolBuildError> {
        builder.spawn_handler(self.0).build_global()
    }
}

/// [`rayon_core_real::ThreadPoolBuilder`], recorded.
pub struct ThreadPoolBuilder<S = DefaultSpawn> {
    real: real::ThreadPoolBuilder,
    start_handler: Option<Box<ThreadHandler>>,
    exit_handler: Option<Box<ThreadHandler>>,
    panic_handler: Option<Box<PanicHandler>>,
    use_current_thread: bool,
    spawn_handler: S,
}

impl Default for ThreadPoolBuilder {
    fn default() -> Self {
        ThreadPoolBuilder {
            real: real::ThreadPoolBuilder::new(),
            start_handler: None,
            exit_handler: None,
            panic_handler: None,
            use_current_thread: false,
            spawn_handler: DefaultSpawn,
        }
    }
}

impl ThreadPoolBuilder {
    /// The same as in the real crate.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same as in the real crate: the pool lives on scoped threads, as long as `with_pool`
    /// runs.
    #[track_caller]
    pub fn build_scoped<W, F, R>(self, wrapper: W, with_pool: F) -> Result<R, ThreadPoolBuildError>
    where
        W: Fn(ThreadBuilder) + Sync,
        F: FnOnce(&ThreadPool) -> R,
    {
        let wrapper = &wrapper;
        let built = Location::caller();
        std::thread::scope(|threads| {
            let start = |thread: ThreadBuilder| {
                let mut builder = std::thread::Builder::new();
                if let Some(name) = thread.name() {
                    builder = builder.name(name.to_owned());
                }
                if let Some(size) = thread.stack_size() {
                    builder = builder.stack_size(size);
                }
                builder
                    .spawn_scoped(threads, move || wrapper(thread))
                    .map(|_| ())
            };
            let pool = self.spawn_handler(start).build_at(built)?;
            Ok(with_pool(&pool))
        })
    }
}

impl<S: ThreadSpawn> ThreadPoolBuilder<S> {
    /// The same as in the real crate.
    #[track_caller]
    pub fn build(self) -> Result<ThreadPool, ThreadPoolBuildError> {
        self.build_at(Location::caller())
    }

    fn build_at(
        self,
        built: &'static Location<'static>,
    ) -> Result<ThreadPool, ThreadPoolBuildError> {
        let (pool, builder, spawn, on_this_thread) = self.prepared();
        let real = {
            let _starting = StartingWorkers::begin();
            spawn.build(builder)?
        };
        announce_current_thread(&pool, on_this_thread);
        Ok(ThreadPool::new_recorded(real, pool.map(|pool| pool.number), built))
    }

    /// The same as in the real crate.
    #[track_caller]
    pub fn build_global(self) -> Result<(), ThreadPoolBuildError> {
        let built = Location::caller();
        let (pool, builder, spawn, on_this_thread) = self.prepared();
        {
            let _starting = StartingWorkers::begin();
            spawn.build_global(builder)?;
        }
        announce_current_thread(&pool, on_this_thread);
        if let (Some(pool), Some(thread)) = (pool, recorded_thread()) {
            thread.announce_pool(pool.number, real::current_num_threads(), Some(built));
        }
        Ok(())
    }

    /// The pool, if the process is recorded, and the real builder with all handlers set.
    fn prepared(self) -> (Option<Arc<Pool>>, real::ThreadPoolBuilder, S, bool) {
        let ThreadPoolBuilder {
            mut real,
            start_handler,
            exit_handler,
            panic_handler,
            use_current_thread,
            spawn_handler,
        } = self;
        let pool = recorded_thread().map(|thread| Pool::new((thread.table().pool)()));
        if let Some(pool) = pool.clone() {
            real = real.start_handler(move |index| {
                worker_starts(&pool, index);
                if let Some(handler) = &start_handler {
                    let _in = HandlerRoot::enter();
                    handler(index);
                }
            });
            real = real.exit_handler(move |index| {
                let _leaving = PoolExit;
                if let Some(handler) = &exit_handler {
                    let _in = HandlerRoot::enter();
                    handler(index);
                }
            });
            if let Some(handler) = panic_handler {
                real = real.panic_handler(move |payload| {
                    let _in = HandlerRoot::enter();
                    handler(payload);
                });
            }
        } else {
            if let Some(handler) = start_handler {
                real = real.start_handler(handler);
            }
            if let Some(handler) = exit_handler {
                real = real.exit_handler(handler);
            }
            if let Some(handler) = panic_handler {
                real = real.panic_handler(handler);
            }
        }
        (pool, real, spawn_handler, use_current_thread)
    }
}

/// A worker leaves its pool after the user's exit handler, even if that panics.
struct PoolExit;

impl Drop for PoolExit {
    fn drop(&mut self) {
        worker_ends();
    }
}

/// Records the building thread if it has become worker 0: it did not start as a worker.
fn announce_current_thread(pool: &Option<Arc<Pool>>, on_this_thread: bool) {
    if let (true, Some(pool), Some(thread)) = (on_this_thread, pool, recorded_thread()) {
        // The thread keeps the task it has: the root waits for nothing.
        thread.task();
        thread.become_worker(pool, 0);
    }
}

impl<S> ThreadPoolBuilder<S> {
    /// The same as in the real crate.
    pub fn spawn_handler<F>(self, spawn: F) -> ThreadPoolBuilder<CustomSpawn<F>>
    where
        F: FnMut(ThreadBuilder) -> io::Result<()>,
    {
        ThreadPoolBuilder {
            real: self.real,
            start_handler: self.start_handler,
            exit_handler: self.exit_handler,
            panic_handler: self.panic_handler,
            use_current_thread: self.use_current_thread,
            spawn_handler: CustomSpawn(spawn),
        }
    }

    /// The same as in the real crate.
    pub fn thread_name<F>(mut self, closure: F) -> Self
    where
        F: FnMut(usize) -> String + 'static,
    {
        self.real = self.real.thread_name(closure);
        self
    }

    /// The same as in the real crate.
    pub fn num_threads(mut self, num_threads: usize) -> Self {
        self.real = self.real.num_threads(num_threads);
        self
    }

    /// The same as in the real crate.
    pub fn use_current_thread(mut self) -> Self {
        self.real = self.real.use_current_thread();
        self.use_current_thread = true;
        self
    }

    /// The same as in the real crate.
    pub fn panic_handler<H>(mut self, panic_handler: H) -> Self
    where
        H: Fn(Box<dyn Any + Send>) + Send + Sync + 'static,
    {
        self.real = self.real.panic_handler(drop);
        self.panic_handler = Some(Box::new(panic_handler));
        self
    }

    /// The same as in the real crate.
    pub fn stack_size(mut self, stack_size: usize) -> Self {
        self.real = self.real.stack_size(stack_size);
        self
    }

    /// The same as in the real crate.
    #[deprecated(note = "use `scope_fifo` and `spawn_fifo` for similar effect")]
    #[allow(deprecated)]
    pub fn breadth_first(mut self) -> Self {
        self.real = self.real.breadth_first();
        self
    }

    /// The same as in the real crate.
    pub fn start_handler<H>(mut self, start_handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        self.real = self.real.start_handler(|_| ());
        self.start_handler = Some(Box::new(start_handler));
        self
    }

    /// The same as in the real crate.
    pub fn exit_handler<H>(mut self, exit_handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        self.real = self.real.exit_handler(|_| ());
        self.exit_handler = Some(Box::new(exit_handler));
        self
    }
}

impl<S> fmt::Debug for ThreadPoolBuilder<S> {
    fn fmt(&self, fmt: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.real.fmt(fmt)
    }
}
