//! Thread pools. A pool that is built while recording has a number in the trace.

use crate::broadcast;
use crate::install;
use crate::join;
use crate::recording::{recorded_thread, RecordedThread};
use crate::scope;
use crate::scope::{Scope, ScopeFifo};
use crate::spawn;
use crate::wire::{primitive, Kind};
use crate::worker::ensure_global_pool;
use crate::yield_now;
use crate::{BroadcastContext, Yield};
use rayon_core_real as real;
use std::error::Error;
use std::fmt;
use std::panic::Location;

/// [`rayon_core_real::current_num_threads`], recorded.
pub fn current_num_threads() -> usize {
    // Outside of a pool, this call starts the global one.
    if let Some(thread) = recorded_thread() {
        ensure_global_pool(thread);
    }
    real::current_num_threads()
}

/// [`rayon_core_real::ThreadPool`], recorded.
pub struct ThreadPool {
    real: real::ThreadPool,
    number: Option<u32>,
}

impl ThreadPool {
    /// The same as in the real crate.
    #[deprecated(note = "Use `ThreadPoolBuilder::build`")]
    #[allow(deprecated)]
    #[track_caller]
    pub fn new(configuration: crate::Configuration) -> Result<ThreadPool, Box<dyn Error>> {
        configuration.build()
    }

    pub(crate) fn new_recorded(
        real: real::ThreadPool,
        number: Option<u32>,
        built: &'static Location<'static>,
    ) -> Self {
        if let (Some(thread), Some(number)) = (recorded_thread(), number) {
            thread.announce_pool(number, real.current_num_threads(), Some(built));
        }
        ThreadPool { real, number }
    }

    /// The same as in the real crate.
    #[track_caller]
    pub fn install<OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce() -> R + Send,
        R: Send,
    {
        self.run_inside(Location::caller(), op)
    }

    /// The calling thread, if it is recorded and not in this pool. A call then takes its task to a
    /// worker.
    fn outside_caller(&self) -> Option<RecordedThread> {
        recorded_thread().filter(|_| self.real.current_thread_index().is_none())
    }

    /// The same as in the real crate.
    #[track_caller]
    pub fn broadcast<OP, R>(&self, op: OP) -> Vec<R>
    where
        OP: Fn(BroadcastContext<'_>) -> R + Sync,
        R: Send,
    {
        let Some(thread) = recorded_thread() else {
            return self.real.broadcast(op);
        };
        let (first, _open) =
            broadcast::waited_for::<OP>(thread, Location::caller(), self.current_num_threads());
        self.real.broadcast(broadcast::body(first, op))
    }

    /// The same as in the real crate.
    #[inline]
    pub fn current_num_threads(&self) -> usize {
        self.real.current_num_threads()
    }

    /// The same as in the real crate.
    #[inline]
    pub fn current_thread_index(&self) -> Option<usize> {
        self.real.current_thread_index()
    }

    /// The same as in the real crate.
    #[inline]
    pub fn current_thread_has_pending_tasks(&self) -> Option<bool> {
        self.real.current_thread_has_pending_tasks()
    }

    /// The same as in the real crate.
    #[track_caller]
    pub fn join<A, B, RA, RB>(&self, oper_a: A, oper_b: B) -> (RA, RB)
    where
        A: FnOnce() -> RA + Send,
        B: FnOnce() -> RB + Send,
        RA: Send,
        RB: Send,
    {
        let location = Location::caller();
        self.run_inside(location, move || join::join_at(location, oper_a, oper_b))
    }

    /// The same as in the real crate.
    #[track_caller]
    pub fn scope<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&Scope<'scope>) -> R + Send,
        R: Send,
    {
        let location = Location::caller();
        self.run_inside(location, move || scope::scope_at(location, op))
    }

    /// The same as in the real crate.
    #[track_caller]
    pub fn scope_fifo<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&ScopeFifo<'scope>) -> R + Send,
        R: Send,
    {
        let location = Location::caller();
        self.run_inside(location, move || scope::scope_fifo_at(location, op))
    }

    /// A blocking call into this pool. It runs on one of the workers if the caller is not one.
    fn run_inside<OP, R>(&self, location: &'static Location<'static>, op: OP) -> R
    where
        OP: FnOnce() -> R + Send,
        R: Send,
    {
        match self.outside_caller() {
            None => self.real.install(op),
            Some(thread) => {
                let site = thread.find_site(location, primitive::INSTALL);
                install::run_on_worker(thread, site, &self.real, op)
            }
        }
    }

    /// The same as in the real crate.
    #[track_caller]
    pub fn in_place_scope<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&Scope<'scope>) -> R,
    {
        scope::in_place_scope_at(Location::caller(), Some(&self.real), op)
    }

    /// The same as in the real crate.
    #[track_caller]
    pub fn in_place_scope_fifo<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&ScopeFifo<'scope>) -> R,
    {
        scope::in_place_scope_fifo_at(Location::caller(), Some(&self.real), op)
    }

    /// The same as in the real crate.
    #[track_caller]
    pub fn spawn<OP>(&self, op: OP)
    where
        OP: FnOnce() + Send + 'static,
    {
        match recorded_thread() {
            None => self.real.spawn(op),
            Some(thread) => self.real.spawn(spawn::body(
                spawn::detached::<OP>(thread, Location::caller()),
                op,
            )),
        }
    }

    /// The same as in the real crate.
    #[track_caller]
    pub fn spawn_fifo<OP>(&self, op: OP)
    where
        OP: FnOnce() + Send + 'static,
    {
        match recorded_thread() {
            None => self.real.spawn_fifo(op),
            Some(thread) => self.real.spawn_fifo(spawn::body(
                spawn::detached::<OP>(thread, Location::caller()),
                op,
            )),
        }
    }

    /// The same as in the real crate.
    #[track_caller]
    pub fn spawn_broadcast<OP>(&self, op: OP)
    where
        OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
    {
        let Some(thread) = recorded_thread() else {
            return self.real.spawn_broadcast(op);
        };
        let first = broadcast::detached::<OP>(thread, Location::caller(), self.current_num_threads());
        self.real.spawn_broadcast(broadcast::body(first, op));
    }

    /// The same as in the real crate.
    #[track_caller]
    pub fn yield_now(&self) -> Option<Yield> {
        yield_now::record_yield(Location::caller(), || self.real.yield_now())
    }

    /// The same as in the real crate.
    #[track_caller]
    pub fn yield_local(&self) -> Option<Yield> {
        yield_now::record_yield(Location::caller(), || self.real.yield_local())
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        if let (Some(number), Some(thread)) = (self.number, recorded_thread()) {
            thread.event(Kind::PoolEnd, [u64::from(number)]);
        }
    }
}

impl fmt::Debug for ThreadPool {
    fn fmt(&self, fmt: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.real.fmt(fmt)
    }
}
