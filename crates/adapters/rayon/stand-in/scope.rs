//! Scopes: group scopes of the task that opens them. Whoever spawns into one, from whatever task, creates a member.

use crate::hop;
use crate::recording::{here, Here};
use crate::task::{Seat, Shared};
use crate::unrecorded::Paused;
use crate::wire::{create, primitive, wait, Kind};
use crate::worker::ensure_global_pool;
use rayon_core_real as real;
use rayon_core_real::BroadcastContext;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};

/// A scope's name in the trace.
#[derive(Clone, Copy)]
pub(crate) struct ScopeId {
    pub(crate) thread: u32,
    pub(crate) number: u64,
}

/// A real scope, by address: it lives until every closure that has seen it has returned, and closures see it only by
/// a reference that they cannot keep.
struct Real<T>(*const T);

impl<T> Clone for Real<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Real<T> {}

// SAFETY: a shared reference in all but lifetime.
unsafe impl<T: Sync> Send for Real<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Real<T> {}
// What may cross an unwinding is decided by the `PhantomData` beside it.
impl<T> UnwindSafe for Real<T> {}
impl<T> RefUnwindSafe for Real<T> {}

macro_rules! scope_type {
    ($(#[$doc:meta])* $Scope:ident, $spawn:ident) => {
        $(#[$doc])*
        pub struct $Scope<'scope> {
            real: Real<real::$Scope<'scope>>,
            /// `None` when it is not recorded.
            id: Option<ScopeId>,
            /// Workers that a broadcast into it reaches.
            workers: usize,
            like: PhantomData<real::$Scope<'scope>>,
        }

        impl<'scope> $Scope<'scope> {
            #[inline]
            fn over(real: &real::$Scope<'scope>, id: Option<ScopeId>, workers: usize) -> Self {
                $Scope { real: Real(real), id, workers, like: PhantomData }
            }

            #[inline]
            fn real(&self) -> &real::$Scope<'scope> {
                // SAFETY: whoever holds this holds it inside a closure of the scope, so the real one is alive.
                unsafe { &*self.real.0 }
            }

            /// As the real one's.
            #[track_caller]
            #[inline]
            pub fn $spawn<BODY>(&self, body: BODY)
            where
                BODY: FnOnce(&$Scope<'scope>) + Send + 'scope,
            {
                let (id, workers) = (self.id, self.workers);
                let recorded = if id.is_some() { here() } else { None };
                let Some(here) = recorded else {
                    return self.real().$spawn(move |real| body(&$Scope::over(real, id, workers)));
                };
                let task = here.task_of::<BODY>(Location::caller(), primitive::SPAWN);
                let child = here.create(task, create::DEFERRED, id);
                self.real().$spawn(move |real| {
                    let mut seat = Seat::empty();
                    seat.begin(child);
                    body(&$Scope::over(real, id, workers))
                });
            }

            /// As the real one's.
            #[track_caller]
            pub fn spawn_broadcast<BODY>(&self, body: BODY)
            where
                BODY: Fn(&$Scope<'scope>, BroadcastContext<'_>) + Send + Sync + 'scope,
            {
                let (id, workers) = (self.id, self.workers);
                let recorded = if id.is_some() { here() } else { None };
                let Some(here) = recorded else {
                    return self.real().spawn_broadcast(move |real, context| body(&$Scope::over(real, id, workers), context));
                };
                let task = here.task_of::<BODY>(Location::caller(), primitive::BROADCAST);
                let first = here.create_many(task, create::INLINE, id, workers);
                self.real().spawn_broadcast(move |real, context| {
                    let mut seat = Seat::empty();
                    seat.begin(first.after(context.index()));
                    body(&$Scope::over(real, id, workers), context)
                });
            }
        }

        impl fmt::Debug for $Scope<'_> {
            fn fmt(&self, fmt: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.real().fmt(fmt)
            }
        }
    };
}

scope_type! {
    /// As [`rayon_core_real::Scope`].
    Scope, spawn
}
scope_type! {
    /// As [`rayon_core_real::ScopeFifo`].
    ScopeFifo, spawn_fifo
}

/// An open scope on its opener's stack: from its opening until its members have ended.
pub(crate) struct Open {
    here: Here,
    site: u32,
    pub(crate) id: ScopeId,
    /// An unrecorded subtree goes on when the scope is over.
    _paused: Paused,
}

impl Open {
    pub(crate) fn new(here: Here, site: u32) -> Self {
        here.task();
        let _paused = Paused::new(here);
        let id = ScopeId {
            thread: here.number(),
            number: here.take_scope(),
        };
        // Opening a scope ends no strand: its time says nothing, so the clock is not read.
        here.record(Kind::Scope, here.last(), [0]);
        Open {
            here,
            site,
            id,
            _paused,
        }
    }

    /// The opener waits from now on.
    pub(crate) fn wait(&self) {
        let scope = [u64::from(self.id.thread), self.id.number];
        self.here.event(
            Kind::Wait,
            [u64::from(self.site) + 1, wait::SCOPE, scope[0], scope[1]],
        );
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.here.event(Kind::Resume, []);
    }
}

/// While the opener runs the scope's own closure.
struct Body<'a>(&'a Open);

impl Drop for Body<'_> {
    fn drop(&mut self) {
        self.0.wait();
    }
}

macro_rules! scope_function {
    ($scope:ident, $scope_at:ident, $in_place:ident, $in_place_at:ident, $Scope:ident) => {
        /// As the real one.
        #[track_caller]
        #[inline]
        pub fn $scope<'scope, OP, R>(op: OP) -> R
        where
            OP: FnOnce(&$Scope<'scope>) -> R + Send,
            R: Send,
        {
            $scope_at(Location::caller(), op)
        }

        #[inline]
        pub(crate) fn $scope_at<'scope, OP, R>(location: &'static Location<'static>, op: OP) -> R
        where
            OP: FnOnce(&$Scope<'scope>) -> R + Send,
            R: Send,
        {
            let Some(caller) = here() else {
                return real::$scope(|real| op(&$Scope::over(real, None, 0)));
            };
            if !caller.is_worker() {
                ensure_global_pool(caller);
                let site = caller.find_site(location, primitive::SCOPE);
                return hop::to(caller, site, hop::ToGlobalPool, move || {
                    $scope_at(location, op)
                });
            }
            let open = Open::new(caller, caller.find_site(location, primitive::SCOPE));
            let shared = Shared::new(&open);
            let workers = real::current_num_threads();
            real::$scope(move |real| {
                // SAFETY: the scope has not returned; on a worker its closure runs on the calling thread.
                let open = unsafe { shared.get() };
                let _body = Body(open);
                op(&$Scope::over(real, Some(open.id), workers))
            })
        }

        /// As the real one.
        #[track_caller]
        #[inline]
        pub fn $in_place<'scope, OP, R>(op: OP) -> R
        where
            OP: FnOnce(&$Scope<'scope>) -> R,
        {
            $in_place_at(Location::caller(), None, op)
        }

        #[inline]
        pub(crate) fn $in_place_at<'scope, OP, R>(
            location: &'static Location<'static>,
            pool: Option<&real::ThreadPool>,
            op: OP,
        ) -> R
        where
            OP: FnOnce(&$Scope<'scope>) -> R,
        {
            let Some(here) = here() else {
                let op = |real: &real::$Scope<'scope>| op(&$Scope::over(real, None, 0));
                return match pool {
                    None => real::$in_place(op),
                    Some(pool) => pool.$in_place(op),
                };
            };
            if pool.is_none() {
                ensure_global_pool(here);
            }
            let open = Open::new(here, here.find_site(location, primitive::SCOPE));
            let workers = pool.map_or_else(
                real::current_num_threads,
                real::ThreadPool::current_num_threads,
            );
            let body = |real: &real::$Scope<'scope>| {
                let _body = Body(&open);
                op(&$Scope::over(real, Some(open.id), workers))
            };
            match pool {
                None => real::$in_place(body),
                Some(pool) => pool.$in_place(body),
            }
        }
    };
}

scope_function!(scope, scope_at, in_place_scope, in_place_scope_at, Scope);
scope_function!(
    scope_fifo,
    scope_fifo_at,
    in_place_scope_fifo,
    in_place_scope_fifo_at,
    ScopeFifo
);
