//! Skips subtrees of joins, to stay within the overhead budget ([`crate::budget`]).
//!
//! While a thread runs a skipped subtree, its joins are [passed on](crate::passthrough_join) to the
//! real crate. A job that was taken by another thread is reported as a *part* of the subtree, and
//! is recorded from there on. A job that begins on top of a subtree suspends it. Scopes, broadcasts
//! and calls into other pools end it, and begin it again afterwards.

use crate::budget::{JoinTicket, Choice, Settings, Watch};
use crate::passthrough_join::{passthrough_join, SkippedIn};
use crate::recording::{recorded_thread, set_skipped, skipped, RecordedThread};
use crate::call_site;
use crate::task::{TaskFrame, Task};
use crate::wire::{primitive, wait, Kind};
use rayon_core_real::FnContext;
use std::cell::Cell;
use std::panic::Location;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

/// The count while a subtree is recorded in full: the budget is not asked, because no thread counts
/// that far down before the subtree ends.
const WHOLE: u32 = u32::MAX;
/// Counts from here on mean [`WHOLE`].
const WHOLE_FROM: u32 = 1 << 31;

/// A skipped subtree, on its thread's stack.
pub(crate) struct Subtree {
    here: RecordedThread,
    thread: u32,
    /// The number of its name on its thread; a new one after each pause.
    number: AtomicU64,
    /// The task that the tasks of its first join are like.
    task: Task,
    /// Whether its thread has recorded that it waits for parts.
    waiting: Cell<bool>,
}

impl RecordedThread {
    fn begin_subtree(&self, task: &Task) -> u64 {
        let number = self.take_yield();
        self.event(Kind::SkipBegin, [u64::from(task.site), u64::from(task.level)]);
        number
    }

    /// Suspends skipping while another job runs on top of the skipped subtree.
    #[inline(always)]
    pub(crate) fn suspend(&self) -> (*const Subtree, u32) {
        let thread = self.state();
        let unasked = thread.unasked.get();
        if unasked >= WHOLE_FROM {
            thread.unasked.set(0);
        }
        (set_skipped(ptr::null()), unasked)
    }

    /// Resumes skipping after that job.
    #[inline(always)]
    pub(crate) fn resume_skip(&self, (skip, unasked): (*const Subtree, u32)) {
        let thread = self.state();
        set_skipped(skip);
        if unasked >= WHOLE_FROM {
            thread.unasked.set(unasked);
        }
    }

    fn subtree(&self) -> Option<&Subtree> {
        // SAFETY: null, or on this thread's stack below us.
        unsafe { skipped().as_ref() }
    }

    /// A join of the subtree that this thread runs waits for a job that another worker has.
    #[cfg(workspan_hooks)]
    pub(crate) fn waits_in_subtree(&self) {
        if let Some(subtree) = self.subtree() {
            if !subtree.waiting.replace(true) {
                self.event(Kind::Wait, [0, wait::PARTS]);
            }
        }
    }

    /// The join of the subtree continues.
    #[cfg(workspan_hooks)]
    pub(crate) fn waited_in_subtree(&self) {
        if let Some(subtree) = self.subtree() {
            if subtree.waiting.replace(false) {
                self.event(Kind::Resume, []);
            }
        }
    }

    /// Whether the budget decides about the join that begins.
    #[inline(always)]
    pub(crate) fn asks(&self) -> bool {
        let unasked = self.state().unasked.get();
        if unasked == 0 {
            return true;
        }
        self.state().unasked.set(unasked - 1);
        false
    }

    /// Asks the budget about the join that begins, whose tasks are like `task`.
    #[cold]
    #[inline(never)]
    pub(crate) fn ask(&self, task: &Task) -> Option<AskedJoin> {
        let thread = self.state();
        let mut watch = thread.watch.get();
        let now = self.now();
        if watch.is_null() {
            let mut settings = Settings::default();
            // SAFETY: writes to a local variable; the table is live.
            unsafe { (self.table().budget)(&mut settings) };
            watch = Box::into_raw(Box::new(Watch::new(settings, now)));
            thread.watch.set(watch);
        }
        // SAFETY: it belongs to this thread, and no other reference to it outlives a call below.
        let watch = unsafe { &mut *watch };
        let (choice, begun) = match watch.budget(self.number(), now, 2) {
            Ok(budget) => budget.begin(task.site, task.level, now),
            Err(next) => {
                thread.unasked.set(next);
                return None;
            }
        };
        match choice {
            Choice::Sample | Choice::Learn => {
                let class = [u64::from(task.site), begun.recorded_level()];
                self.record(Kind::SampleBegin, self.last(), class);
                thread.unasked.set(WHOLE);
            }
            Choice::Enter | Choice::Skip => {}
        }
        Some(AskedJoin {
            here: *self,
            begun,
            choice,
            tasks: self.tasks(),
        })
    }

    /// Drops the budget, which this thread no longer needs.
    pub(crate) fn forget_budget(&self) {
        let watch = self.state().watch.replace(ptr::null_mut());
        self.state().unasked.set(0);
        if !watch.is_null() {
            // SAFETY: it was created in `ask`, and is no longer in the thread's cell.
            drop(unsafe { Box::from_raw(watch) });
        }
    }
}

/// A join that the budget was asked about, until it returns.
pub(crate) struct AskedJoin {
    here: RecordedThread,
    begun: JoinTicket,
    pub(crate) choice: Choice,
    /// The number of tasks created before it.
    tasks: u64,
}

impl Drop for AskedJoin {
    fn drop(&mut self) {
        let thread = self.here.state();
        if thread.unasked.get() >= WHOLE_FROM {
            thread.unasked.set(0);
        }
        let joins = (self.here.tasks() - self.tasks) / 2;
        // SAFETY: as in `ask`; null if the thread has left its pool.
        let watch = unsafe { thread.watch.get().as_mut() };
        if let Some(watch) = watch {
            // The join's last record is its end.
            watch.end(self.begun, self.here.last(), joins);
        }
    }
}

/// Exists while a subtree runs.
struct SubtreeGuard<'a>(&'a Subtree);

impl Drop for SubtreeGuard<'_> {
    fn drop(&mut self) {
        let here = self.0.here;
        set_skipped(ptr::null());
        here.event(Kind::SkipEnd, []);
    }
}

/// Runs a join without recording it.
#[cold]
#[inline(never)]
pub(crate) fn skip<RA: Send, RB: Send>(
    here: RecordedThread,
    task: Task,
    location: &'static Location<'static>,
    oper_a: impl FnOnce(FnContext) -> RA + Send,
    oper_b: impl FnOnce(FnContext) -> RB + Send,
) -> (RA, RB) {
    let subtree = Subtree {
        here,
        thread: here.number(),
        number: AtomicU64::new(here.begin_subtree(&task)),
        task,
        waiting: Cell::new(false),
    };
    let _running = SubtreeGuard(&subtree);
    set_skipped(&subtree);
    passthrough_join(&subtree, location, oper_a, oper_b)
}

/// The calling thread has no handle and cannot get one: from now on its joins run without
/// recording, outside of any subtree.
#[cold]
#[inline(never)]
pub(crate) fn from_now_on() -> *const Subtree {
    set_skipped(Subtree::NOBODYS);
    Subtree::NOBODYS
}

impl SkippedIn for Subtree {
    #[cold]
    #[inline(never)]
    unsafe fn part<R>(
        subtree: *const Subtree,
        location: &'static Location<'static>,
        run: impl FnOnce() -> R,
    ) -> R {
        let Some(here) = recorded_thread() else { return run() };
        // SAFETY: the caller guarantees that the subtree returns after all of its jobs.
        let subtree = unsafe { &*subtree };
        if ptr::eq(skipped(), subtree) {
            let _busy = PartGuard::new(here, subtree);
            return run();
        }
        let same = ptr::eq(location, subtree.task.location) || call_site::is_rayons_own(location.file());
        let site = if same {
            subtree.task.site
        } else {
            here.find_site(location, primitive::JOIN)
        };
        let task = Task {
            site,
            ..subtree.task
        };
        let mut frame = TaskFrame::empty();
        frame.begin_part(here, (subtree.thread, subtree.number.load(Ordering::Relaxed)), task);
        run()
    }
}

/// The subtree's own thread runs one of its jobs while it waits for another.
struct PartGuard<'a>(Option<(RecordedThread, &'a Subtree)>);

impl<'a> PartGuard<'a> {
    fn new(here: RecordedThread, subtree: &'a Subtree) -> Self {
        if !subtree.waiting.replace(false) {
            return PartGuard(None);
        }
        here.event(Kind::Resume, []);
        PartGuard(Some((here, subtree)))
    }
}

impl Drop for PartGuard<'_> {
    fn drop(&mut self) {
        if let Some((here, subtree)) = self.0 {
            here.event(Kind::Wait, [0, wait::PARTS]);
            subtree.waiting.set(true);
        }
    }
}

/// Exists while something is recorded in the middle of a skipped subtree, in the task that the
/// subtree is in.
pub(crate) struct PausedSkip(Option<(RecordedThread, *const Subtree)>);

impl PausedSkip {
    #[inline]
    pub(crate) fn new(here: RecordedThread) -> Self {
        let subtree = set_skipped(ptr::null());
        if subtree.is_null() {
            return PausedSkip(None);
        }
        here.event(Kind::SkipEnd, []);
        PausedSkip(Some((here, subtree)))
    }
}

impl Drop for PausedSkip {
    #[inline]
    fn drop(&mut self) {
        let Some((here, subtree)) = self.0 else {
            return;
        };
        // SAFETY: on this thread's stack below us.
        let (task, number) = unsafe { (&(*subtree).task, &(*subtree).number) };
        number.store(here.begin_subtree(task), Ordering::Relaxed);
        set_skipped(subtree);
    }
}
