//! `join` and `join_context`, from which parallel iterators and sorts are built.
//!
//! An unstolen join reads the clock three times: at its entry, at a's end and at b's end. Rayon
//! runs a at once on this thread, then b unless another worker has taken it. `migrated()` tells b
//! which is the case. So a thief and this thread share only data that are fixed at the entry.

use crate::budget::Choice;
use crate::passthrough_join::passthrough_join;
use crate::install;
use crate::recording::{recorded_thread, skipped, RecordedThread};
use crate::task::{Child, TaskFrame, SharedPointer, Task};
use crate::skipped_subtree;
use crate::wire::{primitive, Kind};
use crate::worker::ensure_global_pool;
use rayon_core_real as real;
use rayon_core_real::FnContext;
use std::cell::Cell;
use std::panic::Location;
use std::ptr;

/// [`rayon_core_real::join`], recorded.
#[track_caller]
#[inline]
pub fn join<A, B, RA, RB>(oper_a: A, oper_b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    join_at(Location::caller(), oper_a, oper_b)
}

/// The join of a call at `location`.
#[inline]
pub(crate) fn join_at<RA: Send, RB: Send>(
    location: &'static Location<'static>,
    oper_a: impl FnOnce() -> RA + Send,
    oper_b: impl FnOnce() -> RB + Send,
) -> (RA, RB) {
    join_context_at(location, |_| oper_a(), |_| oper_b())
}

/// [`rayon_core_real::join_context`], recorded.
#[track_caller]
#[inline]
pub fn join_context<A, B, RA, RB>(oper_a: A, oper_b: B) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    join_context_at(Location::caller(), oper_a, oper_b)
}

#[inline(always)]
fn join_context_at<RA: Send, RB: Send>(
    location: &'static Location<'static>,
    oper_a: impl FnOnce(FnContext) -> RA + Send,
    oper_b: impl FnOnce(FnContext) -> RB + Send,
) -> (RA, RB) {
    // Only a test and a call, so that the functions around it are inlined as with the real crate.
    let subtree = skipped();
    if subtree.is_null() {
        recorded(location, oper_a, oper_b)
    } else {
        passthrough_join(subtree, location, oper_a, oper_b)
    }
}

/// A function of its own, with everything outside that does not depend on the closures: it is
/// compiled for every pair of them.
#[inline(never)]
fn recorded<A, B, RA, RB>(
    location: &'static Location<'static>,
    oper_a: A,
    oper_b: B,
) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    let Some(thread) = recorded_thread() else {
        return passthrough_join(skipped_subtree::from_now_on(), location, oper_a, oper_b);
    };
    let task = thread.task_of::<A>(location, primitive::JOIN);
    if thread.is_worker() {
        let mut _asked = None;
        if thread.asks() {
            _asked = thread.ask(&task);
            if matches!(&_asked, Some(asked) if asked.choice == Choice::Skip) {
                return skipped_subtree::skip(thread, task, location, oper_a, oper_b);
            }
        }
        on_worker(thread, task, false, oper_a, oper_b)
    } else {
        from_outside(thread, task, oper_a, oper_b)
    }
}

/// The join of a thread outside every pool. Its task goes to a worker and joins there.
#[cold]
#[inline(never)]
fn from_outside<RA: Send, RB: Send>(
    caller: RecordedThread,
    task: Task,
    oper_a: impl FnOnce(FnContext) -> RA + Send,
    oper_b: impl FnOnce(FnContext) -> RB + Send,
) -> (RA, RB) {
    ensure_global_pool(caller);
    install::run_on_worker(caller, task.site, install::GlobalPool, move || match recorded_thread() {
        Some(thread) => on_worker(thread, task, true, oper_a, oper_b),
        // The recorder has no room for this worker.
        None => real::join_context(oper_a, oper_b),
    })
}

/// The context that both closures of an injected join get.
fn injected() -> FnContext {
    const { assert!(size_of::<FnContext>() == 1) };
    // SAFETY: the only field of non-zero size is a `bool` (rayon-core 1.12 and 1.13).
    unsafe { core::mem::transmute::<bool, FnContext>(true) }
}

/// A join on a worker's stack.
struct JoinFrame {
    thread: RecordedThread,
    /// The task that joins.
    parent: *const Task,
    /// The task that both children will be.
    task: Task,
    /// b's number; a has the next.
    b: (u32, u64),
    /// The address of the next record after a's end, if no other record is written.
    after_a: Cell<*mut u8>,
    /// Whether the joining task has resumed, together with b's end.
    resumed: Cell<bool>,
}

impl JoinFrame {
    #[inline(always)]
    fn new(thread: RecordedThread, task: Task) -> Self {
        let parent: *const Task = thread.task();
        let b = (thread.number(), thread.take_tasks(2));
        thread.event(Kind::Join, [u64::from(task.site)]);
        JoinFrame {
            thread,
            parent,
            task,
            b,
            after_a: Cell::new(ptr::null_mut()),
            resumed: Cell::new(false),
        }
    }

    /// a begins on top of this frame; or b, on the joining thread.
    #[inline(always)]
    fn enter(&self) {
        self.thread.state().task.set(&self.task);
    }

    /// b begins on the joining thread.
    #[inline(always)]
    fn next(&self) {
        if self.thread.cursor() == self.after_a.get() {
            self.thread.record(Kind::Next, self.thread.last(), []);
        } else {
            self.thread
                .event(Kind::Begin, [u64::from(self.b.0), self.b.1]);
        }
        self.enter();
    }
}

impl Drop for JoinFrame {
    #[inline(always)]
    fn drop(&mut self) {
        if !self.resumed.get() {
            self.thread.event(Kind::Resume, []);
        }
    }
}

/// Exists while a runs.
struct GuardOfA<'a>(&'a JoinFrame);

impl Drop for GuardOfA<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        let call = self.0;
        call.thread.state().task.set(call.parent);
        call.thread.event(Kind::End, []);
        call.after_a.set(call.thread.cursor());
    }
}

/// Exists while b runs on the joining thread.
struct GuardOfB<'a>(&'a JoinFrame);

impl Drop for GuardOfB<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        let call = self.0;
        call.thread.state().task.set(call.parent);
        call.thread.event(Kind::EndResume, []);
        call.resumed.set(true);
    }
}

#[inline]
fn on_worker<RA: Send, RB: Send>(
    thread: RecordedThread,
    mut task: Task,
    is_injected: bool,
    oper_a: impl FnOnce(FnContext) -> RA + Send,
    oper_b: impl FnOnce(FnContext) -> RB + Send,
) -> (RA, RB) {
    let mark = 0u8;
    task.bottom = &mark as *const u8 as usize;
    let call = JoinFrame::new(thread, task);
    let shared = SharedPointer::new(&call);
    real::join_context(
        move |context| {
            // SAFETY: the join has not returned, and a runs on the joining thread.
            let call = unsafe { shared.get() };
            call.enter();
            let _running = GuardOfA(call);
            oper_a(if is_injected { injected() } else { context })
        },
        move |context| {
            // SAFETY: the join returns after b.
            let call = unsafe { shared.get() };
            let mut frame = TaskFrame::empty();
            let _running = if context.migrated() {
                // These fields have not changed since before b could be taken.
                frame.begin(Child {
                    name: call.b,
                    task: call.task,
                });
                None
            } else {
                call.next();
                Some(GuardOfB(call))
            };
            oper_b(if is_injected { injected() } else { context })
        },
    )
}
