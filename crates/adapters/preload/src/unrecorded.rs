//! What runs inside of a task that is left out ([`crate::overhead_budget`]): the begin and end of
//! such a task are recorded, and what it does in between on its thread is an unrecorded subtree
//! (docs/format.md).
//!
//! Tasks created in it carry the subtree's name, which is no pointer: it may have ended when they
//! begin. One that begins on the subtree's own thread while that is in it is nobody's business. Any
//! other is a *part*: it is recorded, and asked for anew.
//!
//! While the subtree's thread waits for parts, it must not look as if it worked. So whoever begins
//! a part counts it for the thread it came from, and that thread looks, when it comes to a wait and
//! after each task that it ran in one: from the first part on, it tells of all waits of the
//! subtree.

use core::cell::Cell;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use workspan_recorder::adapter::{LiveHandle, Stop};
use workspan_recorder::budget::OF_TASKS;
use workspan_recorder::front::id;

/// Parts that began of one thread's subtrees, anywhere.
#[repr(align(64))]
struct Taken {
    parts: AtomicU32,
    /// When the last of them began, in ticks.
    at: AtomicU64,
}

/// By thread; two that share a place tell of waits more often.
static TAKEN: [Taken; 256] = [const {
    Taken {
        parts: AtomicU32::new(0),
        at: AtomicU64::new(0),
    }
}; 256];

fn taken_of(thread: u32) -> &'static Taken {
    &TAKEN[thread as usize % TAKEN.len()]
}

impl Taken {
    /// One more, which began `now`.
    fn count(&self, now: u64) {
        self.at.store(now, Ordering::Relaxed);
        self.parts.fetch_add(1, Ordering::Release);
    }
}

/// Where a subtree's thread is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    /// In the code of a task.
    Work,
    /// In the runtime, which waits for tasks or looks for one to run.
    Wait,
    /// So too, and a record says so.
    ToldWait,
}

/// A subtree that runs unrecorded, on its thread's stack.
pub(crate) struct Subtree {
    site: u32,
    /// Creates between the root and its own task, and the task that runs.
    own_level: u32,
    level: Cell<u32>,
    /// Another one after each pause.
    name: Cell<u64>,
    taken: &'static Taken,
    /// Parts taken before it.
    parts: u32,
    /// Tasks of it that have begun on its thread since it last told.
    tasks: Cell<u64>,
    /// It went on on another thread: it tells of all its waits.
    moved: Cell<bool>,
    at: Cell<At>,
    /// Of the wait that it told of.
    stopped: Cell<Option<Stop>>,
}

impl Subtree {
    /// The current task, which has just begun, is left out from here on.
    pub(crate) fn begin(h: LiveHandle, site: u32, level: u32) -> Subtree {
        let taken = taken_of(h.thread());
        let class = OF_TASKS + u64::from(level);
        Subtree {
            site,
            own_level: level,
            level: Cell::new(level),
            name: Cell::new(h.unrecorded(site, class, h.last())),
            taken,
            parts: taken.parts.load(Ordering::Acquire),
            tasks: Cell::new(0),
            moved: Cell::new(false),
            at: Cell::new(At::Work),
            stopped: Cell::new(None),
        }
    }

    /// It ends, or something is to be recorded in the middle of it.
    pub(crate) fn stop(&self) {
        recorded(|h| {
            h.inside(self.tasks.take());
            h.recorded();
        });
    }

    /// It goes on after that, maybe on another thread.
    pub(crate) fn go_on(&self) {
        let class = OF_TASKS + u64::from(self.own_level);
        recorded(|h| {
            let before = id::split(self.name.get());
            let name = h.unrecorded(self.site, class, h.now());
            self.name.set(name);
            if before.map(|name| name.0) != id::split(name).map(|name| name.0) {
                self.moved.set(true);
            }
        });
    }

    /// What tasks created in it now are to carry.
    #[inline]
    pub(crate) fn name(&self) -> u64 {
        self.name.get()
    }

    /// Creates between the root and the task that runs.
    #[inline]
    pub(crate) fn level(&self) -> u32 {
        self.level.get()
    }

    pub(crate) fn site(&self) -> u32 {
        self.site
    }

    /// Runs a task of its own on its thread.
    #[inline]
    pub(crate) fn task<T>(&self, level: u32, run: impl FnOnce() -> T) -> T {
        let running = Running {
            subtree: self,
            outer: self.level.replace(level),
            in_work: self.enter(),
        };
        let result = run();
        drop(running);
        result
    }

    /// A task of its own begins on its thread; true when it does so in the middle of another one's
    /// code.
    #[inline]
    pub(crate) fn enter(&self) -> bool {
        let mut in_work = false;
        self.enter_with(|so| in_work = so);
        in_work
    }

    /// The same; the answer is given before anything else is done.
    #[inline]
    pub(crate) fn enter_with(&self, in_work: impl FnOnce(bool)) {
        self.count();
        let at = self.at.replace(At::Work);
        in_work(at == At::Work);
        if at == At::ToldWait {
            self.resume();
        }
    }

    /// That task has ended.
    #[inline]
    pub(crate) fn leave(&self, in_work: bool) {
        if !in_work {
            self.at.set(At::Wait);
            self.look();
        }
    }

    /// Runs what waits for tasks in the runtime.
    #[inline]
    pub(crate) fn wait<T>(&self, real: impl FnOnce() -> T) -> T {
        self.begin_wait();
        let waiting = Waiting(self);
        let result = real();
        drop(waiting);
        result
    }

    /// A task of it begins to wait for others in the runtime.
    #[inline]
    pub(crate) fn begin_wait(&self) {
        self.at.set(At::Wait);
        self.look();
    }

    /// That task goes on.
    #[inline]
    pub(crate) fn end_wait(&self) {
        let at = self.at.replace(At::Work);
        if at != At::Wait || self.is_taken() {
            self.waited(at);
        }
    }

    /// A task that is none of its own begins on its thread, while that waits.
    #[cold]
    pub(crate) fn set_aside(&self) {
        if self.at.get() == At::Wait {
            self.tell(None);
        }
    }

    /// A task of it goes on without a thread: it is waited for as parts are.
    #[cold]
    pub(crate) fn lose_a_task(&self) {
        recorded(|h| self.taken.count(h.now()));
    }

    /// One more task of it has begun on its thread.
    #[inline]
    pub(crate) fn count(&self) {
        self.tasks.set(self.tasks.get().wrapping_add(1));
    }

    fn is_taken(&self) -> bool {
        self.taken.parts.load(Ordering::Acquire) != self.parts || self.moved.get()
    }

    /// Its thread may wait for parts from now on: it says so if there were any.
    #[inline]
    fn look(&self) {
        if self.is_taken() {
            self.tell(None);
        }
    }

    /// Its thread waits from then on, or from now on.
    #[cold]
    #[inline(never)]
    fn tell(&self, since: Option<u64>) {
        self.at.set(At::ToldWait);
        recorded(|h| {
            let since = since.unwrap_or_else(|| h.now());
            h.inside(self.tasks.take());
            h.wait_parts_at(since);
            self.stopped.set(Some(h.stopped()));
        });
    }

    /// It goes on after a wait that was told of, wherever its stack has come to.
    #[cold]
    #[inline(never)]
    fn resume(&self) {
        if let Some(stop) = self.stopped.take() {
            recorded(|h| h.go_on(stop, false));
        }
    }

    /// Its thread has waited. The first part may have been taken just before the thread had nothing
    /// left to do, and have told so just after that had looked: then the wait began when it told.
    #[cold]
    #[inline(never)]
    fn waited(&self, at: At) {
        if at == At::Wait {
            self.tell(Some(self.taken.at.load(Ordering::Relaxed)));
        }
        self.resume();
        self.at.set(At::Work);
    }
}

/// Writes with the calling thread's handle, if it is (still) recorded.
fn recorded(write: impl FnOnce(LiveHandle)) {
    // SAFETY: this callback alone uses the handle.
    let h = unsafe { LiveHandle::current() };
    if let Some(h) = h {
        write(h);
    }
}

/// A task of a subtree runs on its thread; it ends when its code is left, by an exception too.
struct Running<'a> {
    subtree: &'a Subtree,
    /// The level of the one that ran.
    outer: u32,
    in_work: bool,
}

impl Drop for Running<'_> {
    #[inline]
    fn drop(&mut self) {
        self.subtree.leave(self.in_work);
        self.subtree.level.set(self.outer);
    }
}

/// A task of a subtree waits, until that returns or throws.
struct Waiting<'a>(&'a Subtree);

impl Drop for Waiting<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.end_wait();
    }
}

/// A task that was created in the subtree of that name begins on top of what this thread does.
pub(crate) fn part(h: LiveHandle, subtree: u64, site: u32) {
    let now = h.part_begin(subtree, site);
    if let Some((thread, _)) = id::split(subtree) {
        taken_of(thread).count(now);
    }
}
