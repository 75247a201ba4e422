//! The tasks on this thread's stack.

use crate::recording::{recorded_thread, RecordedThread};
use crate::scope::ScopeId;
use crate::skipped_subtree::Subtree;
use crate::wire::{create, Kind};
use std::panic::Location;
use std::ptr;

/// The task has no site.
pub(crate) const NO_SITE: u32 = u32::MAX;

/// A task that runs, or waits, on a thread's stack.
#[derive(Clone, Copy)]
pub(crate) struct Task {
    /// Position of the call that created it; null for a root.
    pub(crate) location: *const Location<'static>,
    /// The call's monomorph and primitive ([`crate::call_site::key`]).
    pub(crate) key: u64,
    /// Its spawn site, or `NO_SITE`.
    pub(crate) site: u32,
    /// The number of tasks between its root and it.
    pub(crate) level: u32,
    /// The stack address at which it began on this thread. Frames beyond that belong to other
    /// tasks.
    pub(crate) bottom: usize,
}

// SAFETY: a location is a constant, and nothing else is a pointer.
unsafe impl Sync for Task {}
// SAFETY: a location is a constant, and nothing else is a pointer.
unsafe impl Send for Task {}

/// The task of all roots.
pub(crate) static ROOT: Task = Task {
    location: ptr::null(),
    key: 0,
    site: NO_SITE,
    level: 0,
    bottom: usize::MAX,
};

/// A task that has been created and not yet begun.
#[derive(Clone, Copy)]
pub(crate) struct Child {
    /// The thread that created it, and its create count there.
    pub(crate) name: (u32, u64),
    /// The task it will be; `bottom` is set when it begins.
    pub(crate) task: Task,
}

impl Child {
    /// The child created `index` after this one, if several were created at once.
    pub(crate) fn after(self, index: usize) -> Self {
        Child {
            name: (self.name.0, self.name.1 + index as u64),
            task: self.task,
        }
    }
}

impl RecordedThread {
    /// Records that one task is created.
    pub(crate) fn create(&self, task: Task, kind: u64, scope: Option<ScopeId>) -> Child {
        self.create_many(task, kind, scope, 1)
    }

    /// Records that `count` tasks are created at the same time, with consecutive numbers. Returns
    /// the first one.
    pub(crate) fn create_many(
        &self,
        task: Task,
        kind: u64,
        scope: Option<ScopeId>,
        count: usize,
    ) -> Child {
        self.task();
        let first = self.take_tasks(count as u64);
        let now = self.now();
        for _ in 0..count {
            match scope {
                Some(scope) => {
                    let operands = [
                        kind | create::SCOPED,
                        u64::from(task.site),
                        u64::from(scope.thread),
                        scope.number,
                    ];
                    self.record(Kind::Create, now, operands);
                }
                None => self.record(Kind::Create, now, [kind, u64::from(task.site)]),
            }
        }
        Child {
            name: (self.number(), first),
            task,
        }
    }

    /// A job starts. If the current task is in `yield_now` or `yield_local`, its strand ends here.
    #[inline(always)]
    fn interrupt_yield(&self, now: u64) {
        let site = self.state().yielding.get();
        if site != 0 {
            self.yield_at(site, now);
        }
    }

    #[cold]
    #[inline(never)]
    fn yield_at(&self, site: u32, now: u64) {
        self.state().yielding.set(0);
        self.take_yield();
        self.record(Kind::Yield, now, [u64::from(site)]);
    }
}

/// How a task leaves its [`TaskFrame`].
enum Exit {
    /// The task ends.
    End,
    /// The task goes back to the thread it came from, from this site.
    Leave(u32),
}

/// A place on this thread's stack for a task that begins, or continues, on top of the thread's
/// other work. It must not move once it is taken. Dropping it, on return or on panic, ends or
/// leaves the task.
pub(crate) struct TaskFrame {
    taken: Option<(RecordedThread, *const Task, Exit)>,
    task: Task,
    /// The skipped subtree and the pause of the budget that the thread had before.
    suspend: (*const Subtree, u32),
}

impl TaskFrame {
    #[inline(always)]
    pub(crate) fn empty() -> Self {
        TaskFrame {
            taken: None,
            task: ROOT,
            suspend: (ptr::null(), 0),
        }
    }

    #[inline(always)]
    fn take(&mut self, thread: RecordedThread, task: Task, leaving: Exit) {
        let previous = thread.state().task.get();
        self.task = Task {
            bottom: self as *const TaskFrame as usize,
            ..task
        };
        thread.state().task.set(&self.task);
        self.suspend = thread.suspend();
        self.taken = Some((thread, previous, leaving));
    }

    /// The child begins here.
    #[inline]
    pub(crate) fn begin(&mut self, child: Child) {
        let Some(thread) = recorded_thread() else { return };
        let now = thread.now();
        #[cfg(workspan_hooks)]
        thread.stolen_begins(child.name);
        thread.interrupt_yield(now);
        thread.record(Kind::Begin, now, [u64::from(child.name.0), child.name.1]);
        self.take(thread, child.task, Exit::End);
    }

    /// A task that was created in a skipped subtree begins here.
    #[inline(never)]
    pub(crate) fn begin_part(&mut self, thread: RecordedThread, subtree: (u32, u64), task: Task) {
        let now = thread.now();
        #[cfg(workspan_hooks)]
        thread.stolen_part(subtree.0);
        thread.interrupt_yield(now);
        thread.take_tasks(1);
        let operands = [u64::from(subtree.0), subtree.1, u64::from(task.site)];
        thread.record(Kind::StolenPart, now, operands);
        self.take(thread, task, Exit::End);
    }

    /// The task that yielded as `name` continues here, until it goes back.
    pub(crate) fn go_on(&mut self, name: (u32, u64), task: Task, site: u32) {
        let Some(thread) = recorded_thread() else { return };
        let now = thread.now();
        thread.interrupt_yield(now);
        thread.record(Kind::ResumeYielded, now, [u64::from(name.0), name.1]);
        self.take(thread, task, Exit::Leave(site));
    }
}

impl Drop for TaskFrame {
    #[inline]
    fn drop(&mut self) {
        let Some((thread, previous, leaving)) = self.taken.take() else {
            return;
        };
        thread.state().task.set(previous);
        match leaving {
            Exit::End => thread.event(Kind::End, []),
            Exit::Leave(site) => {
                thread.take_yield();
                thread.event(Kind::Leave, [u64::from(site) + 1]);
            }
        }
        thread.resume_skip(self.suspend);
    }
}

/// A pointer that the closures of one call share, on any threads. Its target is on the calling
/// thread's stack until the call returns, which is after the closures.
pub(crate) struct SharedPointer<T>(*const T);

impl<T> Clone for SharedPointer<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for SharedPointer<T> {}

// SAFETY: users access only data that are constant during the call, or access them on the calling
// thread only.
unsafe impl<T> Send for SharedPointer<T> {}
// SAFETY: users access only data that are constant during the call, or access them on the calling
// thread only.
unsafe impl<T> Sync for SharedPointer<T> {}

impl<T> SharedPointer<T> {
    #[inline(always)]
    pub(crate) fn new(to: &T) -> Self {
        SharedPointer(to)
    }

    /// # Safety
    /// The call that made this has not returned.
    #[inline(always)]
    pub(crate) unsafe fn get<'a>(self) -> &'a T {
        // SAFETY: the call has not returned, so its stack frame is alive.
        unsafe { &*self.0 }
    }
}
