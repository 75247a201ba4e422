//! The inside of a skipped task ([`crate::overhead_budget`]). The begin and end of such a task are
//! recorded, and its actions in between on its thread are a skipped subtree (docs/format.md).
//!
//! Tasks created in it carry the subtree's name, which is not a pointer, because the subtree may
//! have ended when they begin. If such a task begins on the subtree's own thread while that is
//! inside of the subtree, nothing is recorded. Otherwise it is a *part*: it is recorded, and the
//! budget decides about it.
//!
//! While the subtree's thread waits for parts, the time must not count as work. So a thread that
//! begins a part counts it for the thread it came from. That thread checks the count when it comes
//! to a wait, and after each task that it ran in one. From the first part on, it records all waits
//! of the subtree.

use core::cell::Cell;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use workspan_recorder::abi::id;
use workspan_recorder::adapter::{LiveHandle, Stop};
use workspan_recorder::budget::TASK_CLASS;

/// The parts of one thread's subtrees that have begun, on any thread.
#[repr(align(64))]
struct StolenParts {
    parts: AtomicU32,
    /// The time at which the last of them began, in ticks.
    at: AtomicU64,
}

/// Counts by thread. Two threads that share an entry record more waits than necessary.
static STOLEN_PARTS: [StolenParts; 256] = [const {
    StolenParts {
        parts: AtomicU32::new(0),
        at: AtomicU64::new(0),
    }
}; 256];

fn stolen_parts_of(thread: u32) -> &'static StolenParts {
    &STOLEN_PARTS[thread as usize % STOLEN_PARTS.len()]
}

impl StolenParts {
    /// Counts a part that began `now`.
    fn count(&self, now: u64) {
        self.at.store(now, Ordering::Relaxed);
        self.parts.fetch_add(1, Ordering::Release);
    }
}

/// The state of a subtree's thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Activity {
    /// It runs the code of a task.
    Work,
    /// It is in the runtime, which waits for tasks or looks for one to run.
    Wait,
    /// It is in the runtime, and a record says so.
    RecordedWait,
}

/// A skipped subtree, on its thread's stack.
pub(crate) struct Subtree {
    site: u32,
    /// The number of creates between the root and its own task, and the same for the running task.
    own_level: u32,
    level: Cell<u32>,
    /// Its name, which changes with each pause.
    name: Cell<u64>,
    taken: &'static StolenParts,
    /// The number of parts taken before it.
    parts: u32,
    /// The number of its tasks that have begun on its thread since the last record of them.
    tasks: Cell<u64>,
    /// Whether it continued on another thread. Then it records all its waits.
    moved: Cell<bool>,
    at: Cell<Activity>,
    /// The stop of its recorded wait.
    stopped: Cell<Option<Stop>>,
}

impl Subtree {
    /// The current task, which has just begun, is skipped from here on.
    pub(crate) fn begin(h: LiveHandle, site: u32, level: u32) -> Subtree {
        let taken = stolen_parts_of(h.thread());
        let class = TASK_CLASS + u64::from(level);
        Subtree {
            site,
            own_level: level,
            level: Cell::new(level),
            name: Cell::new(h.skip_begin(site, class, h.last())),
            taken,
            parts: taken.parts.load(Ordering::Acquire),
            tasks: Cell::new(0),
            moved: Cell::new(false),
            at: Cell::new(Activity::Work),
            stopped: Cell::new(None),
        }
    }

    /// The subtree ends, or something is recorded in the middle of it.
    pub(crate) fn stop(&self) {
        recorded(|h| {
            h.skipped_tasks(self.tasks.take());
            h.skip_end();
        });
    }

    /// The subtree goes on after that, possibly on another thread.
    pub(crate) fn go_on(&self) {
        let class = TASK_CLASS + u64::from(self.own_level);
        recorded(|h| {
            let before = id::split(self.name.get());
            let name = h.skip_begin(self.site, class, h.now());
            self.name.set(name);
            if before.map(|name| name.0) != id::split(name).map(|name| name.0) {
                self.moved.set(true);
            }
        });
    }

    /// The name that tasks created in it now carry.
    #[inline]
    pub(crate) fn name(&self) -> u64 {
        self.name.get()
    }

    /// The number of creates between the root and the running task.
    #[inline]
    pub(crate) fn level(&self) -> u32 {
        self.level.get()
    }

    pub(crate) fn site(&self) -> u32 {
        self.site
    }

    /// Runs one of its tasks on its thread.
    #[inline]
    pub(crate) fn task<T>(&self, level: u32, run: impl FnOnce() -> T) -> T {
        let running = RunGuard {
            subtree: self,
            outer: self.level.replace(level),
            in_work: self.enter(),
        };
        let result = run();
        drop(running);
        result
    }

    /// One of its tasks begins on its thread. Returns true if it begins in the middle of another
    /// one's code.
    #[inline]
    pub(crate) fn enter(&self) -> bool {
        let mut in_work = false;
        self.enter_with(|so| in_work = so);
        in_work
    }

    /// Like [`Subtree::enter`], but passes the result to `in_work` before doing anything else.
    #[inline]
    pub(crate) fn enter_with(&self, in_work: impl FnOnce(bool)) {
        self.count();
        let at = self.at.replace(Activity::Work);
        in_work(at == Activity::Work);
        if at == Activity::RecordedWait {
            self.resume();
        }
    }

    /// That task has ended.
    #[inline]
    pub(crate) fn leave(&self, in_work: bool) {
        if !in_work {
            self.at.set(Activity::Wait);
            self.look();
        }
    }

    /// Runs a function of the runtime that waits for tasks.
    #[inline]
    pub(crate) fn wait<T>(&self, real: impl FnOnce() -> T) -> T {
        self.begin_wait();
        let waiting = WaitGuard(self);
        let result = real();
        drop(waiting);
        result
    }

    /// One of its tasks begins to wait for others in the runtime.
    #[inline]
    pub(crate) fn begin_wait(&self) {
        self.at.set(Activity::Wait);
        self.look();
    }

    /// That task goes on.
    #[inline]
    pub(crate) fn end_wait(&self) {
        let at = self.at.replace(Activity::Work);
        if at != Activity::Wait || self.is_taken() {
            self.waited(at);
        }
    }

    /// Another task begins on its thread, while that waits.
    #[cold]
    pub(crate) fn suspend(&self) {
        if self.at.get() == Activity::Wait {
            self.tell(None);
        }
    }

    /// One of its tasks continues without a thread. It is waited for like a part.
    #[cold]
    pub(crate) fn uncount_task(&self) {
        recorded(|h| self.taken.count(h.now()));
    }

    /// Counts one of its tasks that has begun on its thread.
    #[inline]
    pub(crate) fn count(&self) {
        self.tasks.set(self.tasks.get().wrapping_add(1));
    }

    fn is_taken(&self) -> bool {
        self.taken.parts.load(Ordering::Acquire) != self.parts || self.moved.get()
    }

    /// Its thread may wait for parts from now on. Records the wait if there were any.
    #[inline]
    fn look(&self) {
        if self.is_taken() {
            self.tell(None);
        }
    }

    /// Records that its thread waits since `since`, or from now on.
    #[cold]
    #[inline(never)]
    fn tell(&self, since: Option<u64>) {
        self.at.set(Activity::RecordedWait);
        recorded(|h| {
            let since = since.unwrap_or_else(|| h.now());
            h.skipped_tasks(self.tasks.take());
            h.wait_parts_at(since);
            self.stopped.set(Some(h.stopped()));
        });
    }

    /// It goes on after a recorded wait, on whatever thread its stack is now.
    #[cold]
    #[inline(never)]
    fn resume(&self) {
        if let Some(stop) = self.stopped.take() {
            recorded(|h| h.go_on(stop, false));
        }
    }

    /// Its thread has waited. The first part may have been taken just before the thread had nothing
    /// left to do, and counted just after the thread had checked. Then the wait began when the part
    /// was counted.
    #[cold]
    #[inline(never)]
    fn waited(&self, at: Activity) {
        if at == Activity::Wait {
            self.tell(Some(self.taken.at.load(Ordering::Relaxed)));
        }
        self.resume();
        self.at.set(Activity::Work);
    }
}

/// Writes with the calling thread's handle, if it is still recorded.
fn recorded(write: impl FnOnce(LiveHandle)) {
    // SAFETY: only this callback uses the handle.
    let h = unsafe { LiveHandle::current() };
    if let Some(h) = h {
        write(h);
    }
}

/// Exists while a task of a subtree runs on its thread. Dropped when the task's code is left, also
/// by an exception.
struct RunGuard<'a> {
    subtree: &'a Subtree,
    /// The level of the task that ran before.
    outer: u32,
    in_work: bool,
}

impl Drop for RunGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        self.subtree.leave(self.in_work);
        self.subtree.level.set(self.outer);
    }
}

/// Exists while a task of a subtree waits, until the wait returns or throws.
struct WaitGuard<'a>(&'a Subtree);

impl Drop for WaitGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.end_wait();
    }
}

/// A task that was created in the subtree with this name begins on top of this thread's other work.
pub(crate) fn part(h: LiveHandle, subtree: u64, site: u32) {
    let now = h.stolen_part_begin(subtree, site);
    if let Some((thread, _)) = id::split(subtree) {
        stolen_parts_of(thread).count(now);
    }
}
