//! A task that goes on on a worker: `install`, and blocking calls from outside the pool. The task yields on the calling
//! thread, goes on on the worker, leaves it at the end and resumes where it came from.

use crate::recording::Here;
use crate::task::{Seat, Shared, Task};
use crate::unrecorded::Paused;
use crate::wire::Kind;
use rayon_core_real as real;
use std::ptr;

/// What takes a call to a worker and blocks until it has returned.
pub(crate) trait Carrier {
    fn carry<R: Send>(self, body: impl FnOnce() -> R + Send) -> R;
}

/// To the global pool. (A call that is on a worker already would just go on there.)
pub(crate) struct ToGlobalPool;

impl Carrier for ToGlobalPool {
    fn carry<R: Send>(self, body: impl FnOnce() -> R + Send) -> R {
        real::scope(|_| body())
    }
}

impl Carrier for &real::ThreadPool {
    fn carry<R: Send>(self, body: impl FnOnce() -> R + Send) -> R {
        self.install(body)
    }
}

/// The caller's side.
struct Away {
    here: Here,
    name: (u32, u64),
    task: Task,
    site: u32,
    /// An unrecorded subtree goes on when the task is back.
    _paused: Paused,
}

impl Drop for Away {
    fn drop(&mut self) {
        self.here.event(Kind::Resume, []);
    }
}

/// Runs `body` where `carrier` takes it, and records that the caller's task does.
pub(crate) fn to<R: Send>(
    caller: Here,
    site: u32,
    carrier: impl Carrier,
    body: impl FnOnce() -> R + Send,
) -> R {
    let task = *caller.task();
    let _paused = Paused::new(caller);
    let name = (caller.number(), caller.take_yield());
    caller.event(Kind::Yield, [u64::from(site) + 1]);
    let away = Away {
        here: caller,
        name,
        task,
        site,
        _paused,
    };
    let shared = Shared::new(&away);
    carrier.carry(move || {
        // SAFETY: the caller blocks until this has returned.
        let away = unsafe { shared.get() };
        let mut seat = Seat::empty();
        // Where the stack names nobody's code, what is called on the worker stands for the call that went there; and it goes on
        // with no call made before.
        let task = Task {
            site: away.site,
            location: ptr::null(),
            key: 0,
            ..away.task
        };
        seat.go_on(away.name, task, away.site);
        body()
    })
}
