//! Scopes. Each is a group scope of the task that opens it. Every spawn into it, by any task,
//! creates a member.

use crate::install;
use crate::recording::{recorded_thread, RecordedThread};
use crate::task::{TaskFrame, SharedPointer};
use crate::skipped_subtree::PausedSkip;
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

/// A real scope, by address. It lives until every closure that has seen it has returned. Closures
/// see it only by a reference that they cannot keep.
struct RealRef<T>(*const T);

impl<T> Clone for RealRef<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for RealRef<T> {}

// SAFETY: it is a shared reference in everything but its lifetime.
unsafe impl<T: Sync> Send for RealRef<T> {}
// SAFETY: it is a shared reference in everything but its lifetime.
unsafe impl<T: Sync> Sync for RealRef<T> {}
// The `PhantomData` beside it decides what may cross an unwinding.
impl<T> UnwindSafe for RealRef<T> {}
impl<T> RefUnwindSafe for RealRef<T> {}

macro_rules! scope_type {
    ($(#[$doc:meta])* $Scope:ident, $spawn:ident) => {
        $(#[$doc])*
        pub struct $Scope<'scope> {
            real: RealRef<real::$Scope<'scope>>,
            /// `None` if the scope is not recorded.
            id: Option<ScopeId>,
            /// The number of workers that a broadcast into it reaches.
            workers: usize,
            like: PhantomData<real::$Scope<'scope>>,
        }

        impl<'scope> $Scope<'scope> {
            #[inline]
            fn new(real: &real::$Scope<'scope>, id: Option<ScopeId>, workers: usize) -> Self {
                $Scope { real: RealRef(real), id, workers, like: PhantomData }
            }

            #[inline]
            fn real(&self) -> &real::$Scope<'scope> {
                // SAFETY: this exists only inside closures of the scope, so the real scope is
                // alive.
                unsafe { &*self.real.0 }
            }

            /// The same as in the real crate.
            #[track_caller]
            #[inline]
            pub fn $spawn<BODY>(&self, body: BODY)
            where
                BODY: FnOnce(&$Scope<'scope>) + Send + 'scope,
            {
                let (id, workers) = (self.id, self.workers);
                let recorded = if id.is_some() { recorded_thread() } else { None };
                let Some(thread) = recorded else {
                    return self.real().$spawn(move |real| body(&$Scope::new(real, id, workers)));
                };
                let task = thread.task_of::<BODY>(Location::caller(), primitive::SPAWN);
                let child = thread.create(task, create::DEFERRED, id);
                self.real().$spawn(move |real| {
                    let mut frame = TaskFrame::empty();
                    frame.begin(child);
                    body(&$Scope::new(real, id, workers))
                });
            }

            /// The same as in the real crate.
            #[track_caller]
            pub fn spawn_broadcast<BODY>(&self, body: BODY)
            where
                BODY: Fn(&$Scope<'scope>, BroadcastContext<'_>) + Send + Sync + 'scope,
            {
                let (id, workers) = (self.id, self.workers);
                let recorded = if id.is_some() { recorded_thread() } else { None };
                let Some(thread) = recorded else {
                    return self.real().spawn_broadcast(move |real, context| body(&$Scope::new(real, id, workers), context));
                };
                let task = thread.task_of::<BODY>(Location::caller(), primitive::BROADCAST);
                let first = thread.create_many(task, create::INLINE, id, workers);
                self.real().spawn_broadcast(move |real, context| {
                    let mut frame = TaskFrame::empty();
                    frame.begin(first.after(context.index()));
                    body(&$Scope::new(real, id, workers), context)
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
    /// [`rayon_core_real::Scope`], recorded.
    Scope, spawn
}
scope_type! {
    /// [`rayon_core_real::ScopeFifo`], recorded.
    ScopeFifo, spawn_fifo
}

/// An open scope on its opener's stack, until all members have ended.
pub(crate) struct OpenScope {
    thread: RecordedThread,
    site: u32,
    pub(crate) id: ScopeId,
    /// A skipped subtree continues when the scope is over.
    _paused: PausedSkip,
}

impl OpenScope {
    pub(crate) fn new(thread: RecordedThread, site: u32) -> Self {
        thread.task();
        let _paused = PausedSkip::new(thread);
        let id = ScopeId {
            thread: thread.number(),
            number: thread.take_scope(),
        };
        // Opening a scope ends no strand, so the record needs no time of its own.
        thread.record(Kind::Scope, thread.last(), [0]);
        OpenScope {
            thread,
            site,
            id,
            _paused,
        }
    }

    /// The opener begins to wait.
    pub(crate) fn wait(&self) {
        let scope = [u64::from(self.id.thread), self.id.number];
        self.thread.event(
            Kind::Wait,
            [u64::from(self.site) + 1, wait::SCOPE, scope[0], scope[1]],
        );
    }
}

impl Drop for OpenScope {
    fn drop(&mut self) {
        self.thread.event(Kind::Resume, []);
    }
}

/// Exists while the opener runs the scope's own closure.
struct Body<'a>(&'a OpenScope);

impl Drop for Body<'_> {
    fn drop(&mut self) {
        self.0.wait();
    }
}

macro_rules! scope_function {
    ($scope:ident, $scope_at:ident, $in_place:ident, $in_place_at:ident, $Scope:ident) => {
        /// The same as in the real crate.
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
            let Some(caller) = recorded_thread() else {
                return real::$scope(|real| op(&$Scope::new(real, None, 0)));
            };
            if !caller.is_worker() {
                ensure_global_pool(caller);
                let site = caller.find_site(location, primitive::SCOPE);
                return install::run_on_worker(caller, site, install::GlobalPool, move || {
                    $scope_at(location, op)
                });
            }
            let open = OpenScope::new(caller, caller.find_site(location, primitive::SCOPE));
            let shared = SharedPointer::new(&open);
            let workers = real::current_num_threads();
            real::$scope(move |real| {
                // SAFETY: the scope has not returned; on a worker its closure runs on the calling
                // thread.
                let open = unsafe { shared.get() };
                let _body = Body(open);
                op(&$Scope::new(real, Some(open.id), workers))
            })
        }

        /// The same as in the real crate.
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
            let Some(thread) = recorded_thread() else {
                let op = |real: &real::$Scope<'scope>| op(&$Scope::new(real, None, 0));
                return match pool {
                    None => real::$in_place(op),
                    Some(pool) => pool.$in_place(op),
                };
            };
            if pool.is_none() {
                ensure_global_pool(thread);
            }
            let open = OpenScope::new(thread, thread.find_site(location, primitive::SCOPE));
            let workers = pool.map_or_else(
                real::current_num_threads,
                real::ThreadPool::current_num_threads,
            );
            let body = |real: &real::$Scope<'scope>| {
                let _body = Body(&open);
                op(&$Scope::new(real, Some(open.id), workers))
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
