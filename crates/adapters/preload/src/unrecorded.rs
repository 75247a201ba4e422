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

use workspan_recorder::adapter;
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
    h: *mut Handle,
    site: u32,
    /// Creates between the root and its own task, and the task that runs.
    own_level: u32,
    level: Cell<u32>,
    /// Another one after each pause.
    name: Cell<u64>,
    taken: &'static Taken,
    /// Parts taken before it.
    parts: u32,
    at: Cell<At>,
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
                h,
                site,
                own_level: level,
                level: Cell::new(level),
                name: Cell::new(adapter::unrecorded(h, site, class, (*h).last)),
                taken,
                parts: taken.parts.load(Ordering::Acquire),
                at: Cell::new(At::Work),
            }
        }
    }

    /// It ends, or something is to be recorded in the middle of it.
    ///
    /// # Safety
    /// On the subtree's thread, in the code of one of its tasks.
    pub(crate) unsafe fn stop(&self) {
        // SAFETY: the handle is the thread's.
        unsafe { adapter::recorded(self.h) };
    }

    /// It goes on after that.
    ///
    /// # Safety
    /// As [`Subtree::stop`].
    pub(crate) unsafe fn go_on(&self) {
        let class = OF_TASKS + u64::from(self.own_level);
        // SAFETY: the handle is the thread's.
        unsafe {
            let now = Handle::now(self.h);
            self.name
                .set(adapter::unrecorded(self.h, self.site, class, now));
        }
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
    pub(crate) unsafe fn task(&self, level: u32, run: impl FnOnce()) {
        let outer = self.level.replace(level);
        // SAFETY: the caller's.
        unsafe {
            let in_work = self.enter();
            run();
            self.leave(in_work);
        }
        self.level.set(outer);
    }

    /// A task of its own begins on its thread; true when it does so in the middle of another one's code.
    ///
    /// # Safety
    /// On the subtree's thread.
    #[inline]
    pub(crate) unsafe fn enter(&self) -> bool {
        let at = self.at.replace(At::Work);
        if at == At::ToldWait {
            // SAFETY: the handle is the thread's.
            unsafe { adapter::resume(self.h) };
        }
        at == At::Work
    }

    /// That task has ended.
    ///
    /// # Safety
    /// As [`Subtree::enter`], which said `in_work`.
    #[inline]
    pub(crate) unsafe fn leave(&self, in_work: bool) {
        if !in_work {
            self.at.set(At::Wait);
            // SAFETY: the handle is the thread's.
            unsafe { self.look() };
        }
    }

    /// Runs what waits for tasks in the runtime.
    ///
    /// # Safety
    /// On the subtree's thread, in the code of one of its tasks.
    #[inline]
    pub(crate) unsafe fn wait<T>(&self, real: impl FnOnce() -> T) -> T {
        // SAFETY: the caller's.
        unsafe {
            self.begin_wait();
            let result = real();
            self.end_wait();
            result
        }
    }

    /// A task of it begins to wait for others in the runtime.
    ///
    /// # Safety
    /// As [`Subtree::wait`].
    #[inline]
    pub(crate) unsafe fn begin_wait(&self) {
        self.at.set(At::Wait);
        // SAFETY: the handle is the thread's.
        unsafe { self.look() };
    }

    /// That task goes on.
    ///
    /// # Safety
    /// As [`Subtree::wait`].
    #[inline]
    pub(crate) unsafe fn end_wait(&self) {
        if self.at.get() != At::Wait || self.is_taken() {
            // SAFETY: the handle is the thread's.
            unsafe { self.waited() };
        }
        self.at.set(At::Work);
    }

    /// A task of it goes on without a thread: it is waited for as parts are.
    ///
    /// # Safety
    /// On the subtree's thread.
    #[cold]
    pub(crate) unsafe fn lose_a_task(&self) {
        // SAFETY: the handle is the thread's.
        self.taken.count(unsafe { Handle::now(self.h) });
    }

    fn is_taken(&self) -> bool {
        self.taken.parts.load(Ordering::Acquire) != self.parts
    }

    /// Its thread may wait for parts from now on: it says so if there were any.
    #[inline]
    unsafe fn look(&self) {
        if self.is_taken() {
            self.at.set(At::ToldWait);
            // SAFETY: the handle is the thread's.
            unsafe { adapter::wait_parts_at(self.h, Handle::now(self.h)) };
        }
    }

    /// Its thread has waited. The first part may have been taken just before the thread had nothing left to do, and have told so just
    /// after that had looked: then the wait began when it told.
    #[cold]
    unsafe fn waited(&self) {
        // SAFETY: the handle is the thread's.
        unsafe {
            if self.at.get() == At::Wait {
                adapter::wait_parts_at(self.h, self.taken.at.load(Ordering::Relaxed));
            }
            adapter::resume(self.h);
        }
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
