//! Takes the current task to a worker, for `install` and blocking calls from outside the pool. The
//! task yields on the calling thread, continues on the worker, leaves it at the end and resumes on
//! the calling thread.

use crate::recording::RecordedThread;
use crate::task::{TaskFrame, SharedPointer, Task};
use crate::skipped_subtree::PausedSkip;
use crate::wire::Kind;
use rayon_core_real as real;
use std::ptr;

/// Takes a call to a worker and blocks until it has returned.
pub(crate) trait Carrier {
    fn carry<R: Send>(self, body: impl FnOnce() -> R + Send) -> R;
}

/// The global pool. (A call from one of its workers would simply continue there.)
pub(crate) struct GlobalPool;

impl Carrier for GlobalPool {
    fn carry<R: Send>(self, body: impl FnOnce() -> R + Send) -> R {
        real::scope(|_| body())
    }
}

impl Carrier for &real::ThreadPool {
    fn carry<R: Send>(self, body: impl FnOnce() -> R + Send) -> R {
        self.install(body)
    }
}

/// The task on the caller's thread, while it is on the worker.
struct YieldedTask {
    thread: RecordedThread,
    name: (u32, u64),
    task: Task,
    site: u32,
    /// A skipped subtree continues when the task is back.
    _paused: PausedSkip,
}

impl Drop for YieldedTask {
    fn drop(&mut self) {
        self.thread.event(Kind::Resume, []);
    }
}

/// Runs `body` where `carrier` takes it, and records that the caller's task does.
pub(crate) fn run_on_worker<R: Send>(
    caller: RecordedThread,
    site: u32,
    carrier: impl Carrier,
    body: impl FnOnce() -> R + Send,
) -> R {
    let task = *caller.task();
    let _paused = PausedSkip::new(caller);
    let name = (caller.number(), caller.take_yield());
    caller.event(Kind::Yield, [u64::from(site) + 1]);
    let away = YieldedTask {
        thread: caller,
        name,
        task,
        site,
        _paused,
    };
    let shared = SharedPointer::new(&away);
    carrier.carry(move || {
        // SAFETY: the caller blocks until this closure has returned.
        let away = unsafe { shared.get() };
        let mut frame = TaskFrame::empty();
        // If a call stack on the worker shows no user code, the caller's site counts. The task has
        // made no call before.
        let task = Task {
            site: away.site,
            location: ptr::null(),
            key: 0,
            ..away.task
        };
        frame.go_on(away.name, task, away.site);
        body()
    })
}
