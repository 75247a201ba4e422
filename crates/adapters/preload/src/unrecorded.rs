//! What runs inside of a task that is left out ([`crate::watch`]): such a task's own begin and end are recorded, and what it does in between on
//! its thread is an unrecorded subtree (docs/format.md).
//!
//! Tasks created in it carry the subtree's name, which is no pointer: it may have ended when they begin. One that begins on the subtree's own
//! thread while that is in it is nobody's business. Any other is a *part*: it is recorded, and asked for anew.
//!
//! While the subtree's thread waits for parts, it must not look as if it worked. So whoever begins a part counts it for the thread it came
//! from, and that thread looks, when it comes to a wait and after each task that it ran in one: from the first part on, it tells of all waits of the subtree.

use core::cell::Cell;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use workspan_recorder::adapter::{self, Stop};
use workspan_recorder::budget::OF_TASKS;
use workspan_recorder::front::{Handle, id};

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
    ///
    /// # Safety
    /// `h` is the calling thread's live handle.
    pub(crate) unsafe fn begin(h: *mut Handle, site: u32, level: u32) -> Subtree {
        // SAFETY: the caller's.
        unsafe {
            let taken = taken_of((*h).thread);
            let class = OF_TASKS + u64::from(level);
            Subtree {
                site,
                own_level: level,
                level: Cell::new(level),
                name: Cell::new(adapter::unrecorded(h, site, class, (*h).last)),
                taken,
                parts: taken.parts.load(Ordering::Acquire),
                tasks: Cell::new(0),
                moved: Cell::new(false),
                at: Cell::new(At::Work),
                stopped: Cell::new(None),
            }
        }
    }

    /// It ends, or something is to be recorded in the middle of it.
    ///
    /// # Safety
    /// On the subtree's thread, in the code of one of its tasks.
    pub(crate) unsafe fn stop(&self) {
        // SAFETY: the handle is the thread's.
        recorded(|h| unsafe {
            adapter::inside(h, self.tasks.take());
            adapter::recorded(h);
        });
    }

    /// It goes on after that, maybe on another thread.
    ///
    /// # Safety
    /// As [`Subtree::stop`].
    pub(crate) unsafe fn go_on(&self) {
        let class = OF_TASKS + u64::from(self.own_level);
        // SAFETY: the handle is the thread's.
        recorded(|h| unsafe {
            let before = id::split(self.name.get());
            let name = adapter::unrecorded(h, self.site, class, Handle::now(h));
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
    ///
    /// # Safety
    /// On the subtree's thread, `run` once a task's code and on the same stack.
    #[inline]
    pub(crate) unsafe fn task<T>(&self, level: u32, run: impl FnOnce() -> T) -> T {
        let running = Running {
            subtree: self,
            outer: self.level.replace(level),
            // SAFETY: the caller's.
            in_work: unsafe { self.enter() },
        };
        let result = run();
        drop(running);
        result
    }

    /// A task of its own begins on its thread; true when it does so in the middle of another one's code.
    ///
    /// # Safety
    /// On the subtree's thread.
    #[inline]
    pub(crate) unsafe fn enter(&self) -> bool {
        let mut in_work = false;
        // SAFETY: the caller's.
        unsafe { self.enter_with(|so| in_work = so) };
        in_work
    }

    /// The same; the answer is given before anything else is done.
    ///
    /// # Safety
    /// As [`Subtree::enter`].
    #[inline]
    pub(crate) unsafe fn enter_with(&self, in_work: impl FnOnce(bool)) {
        self.count();
        let at = self.at.replace(At::Work);
        in_work(at == At::Work);
        if at == At::ToldWait {
            self.resume();
        }
    }

    /// That task has ended.
    ///
    /// # Safety
    /// As [`Subtree::enter`], which said `in_work`.
    #[inline]
    pub(crate) unsafe fn leave(&self, in_work: bool) {
        if !in_work {
            self.at.set(At::Wait);
            self.look();
        }
    }

    /// Runs what waits for tasks in the runtime.
    ///
    /// # Safety
    /// On the subtree's thread, in the code of one of its tasks.
    #[inline]
    pub(crate) unsafe fn wait<T>(&self, real: impl FnOnce() -> T) -> T {
        // SAFETY: the caller's.
        unsafe { self.begin_wait() };
        let waiting = Waiting(self);
        let result = real();
        drop(waiting);
        result
    }

    /// A task of it begins to wait for others in the runtime.
    ///
    /// # Safety
    /// As [`Subtree::wait`].
    #[inline]
    pub(crate) unsafe fn begin_wait(&self) {
        self.at.set(At::Wait);
        self.look();
    }

    /// That task goes on.
    ///
    /// # Safety
    /// As [`Subtree::wait`].
    #[inline]
    pub(crate) unsafe fn end_wait(&self) {
        let at = self.at.replace(At::Work);
        if at != At::Wait || self.is_taken() {
            self.waited(at);
        }
    }

    /// A task that is none of its own begins on its thread, while that waits.
    ///
    /// # Safety
    /// On the subtree's thread.
    #[cold]
    pub(crate) unsafe fn set_aside(&self) {
        if self.at.get() == At::Wait {
            self.tell(None);
        }
    }

    /// A task of it goes on without a thread: it is waited for as parts are.
    ///
    /// # Safety
    /// On the subtree's thread.
    #[cold]
    pub(crate) unsafe fn lose_a_task(&self) {
        // SAFETY: the handle is the thread's.
        recorded(|h| self.taken.count(unsafe { Handle::now(h) }));
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
        // SAFETY: the handle is the thread's.
        recorded(|h| unsafe {
            let since = since.unwrap_or_else(|| Handle::now(h));
            adapter::inside(h, self.tasks.take());
            adapter::wait_parts_at(h, since);
            self.stopped.set(Some(adapter::stopped(h)));
        });
    }

    /// It goes on after a wait that was told of, wherever its stack has come to.
    #[cold]
    #[inline(never)]
    fn resume(&self) {
        if let Some(stop) = self.stopped.take() {
            // SAFETY: the handle is the thread's.
            recorded(|h| unsafe { adapter::go_on(h, stop, false) });
        }
    }

    /// Its thread has waited. The first part may have been taken just before the thread had nothing left to do, and have told so just
    /// after that had looked: then the wait began when it told.
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
fn recorded(write: impl FnOnce(*mut Handle)) {
    let h = adapter::handle();
    if !h.is_null() {
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
        // SAFETY: where it was made, or where its stack has come to.
        unsafe { self.subtree.leave(self.in_work) };
        self.subtree.level.set(self.outer);
    }
}

/// A task of a subtree waits, until that returns or throws.
struct Waiting<'a>(&'a Subtree);

impl Drop for Waiting<'_> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: where it was made, or where its stack has come to.
        unsafe { self.0.end_wait() };
    }
}

/// A task that was created in the subtree of that name begins on top of what this thread does.
///
/// # Safety
/// `h` is the calling thread's live handle.
pub(crate) unsafe fn part(h: *mut Handle, subtree: u64, site: u32) {
    // SAFETY: the caller's.
    let now = unsafe { adapter::part_begin(h, subtree, site) };
    if let Some((thread, _)) = id::split(subtree) {
        taken_of(thread).count(now);
    }
}
