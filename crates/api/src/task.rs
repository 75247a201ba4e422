//! Tasks made by hand: who creates, begins, waits and ends, told from the thread where it happens.

use core::marker::PhantomData;
use core::panic::Location;

use crate::site::site;
use crate::table::{Number, Table, table};

const DEFERRED: u32 = 1;
const INLINE: u32 = 2;
const DETACHED: u32 = 3;

/// A task, as its creator and whoever runs it know it. Copy it into the job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Task(pub(crate) Number);

impl Task {
    /// The current task creates one that another thread may take: a spawn.
    #[inline]
    #[track_caller]
    #[must_use = "the task has to begin somewhere"]
    pub fn create() -> Task {
        create(DEFERRED, 0, Location::caller())
    }

    /// The current task creates one that nobody may take.
    #[inline]
    #[track_caller]
    #[must_use = "the task has to begin somewhere"]
    pub fn create_inline() -> Task {
        create(INLINE, 0, Location::caller())
    }

    /// The current task creates one that nobody waits for.
    #[inline]
    #[track_caller]
    #[must_use = "the task has to begin somewhere"]
    pub fn create_detached() -> Task {
        create(DETACHED, 0, Location::caller())
    }

    /// The task begins here, on top of what this thread does; it ends when the guard is dropped.
    #[inline]
    pub fn begin(self) -> Running {
        if let Some(table) = table() {
            (table.task_begin)(self.0.get());
        }
        Running {
            _of_this_thread: PhantomData,
        }
    }

    /// This task can't begin before `on` has ended. Tell it before this one begins.
    #[inline]
    pub fn depends_on(self, on: Task) {
        if let Some(table) = table() {
            (table.depend)(self.0.get(), on.0.get());
        }
    }
}

#[inline]
pub(crate) fn create(kind: u32, scope: u64, location: &'static Location<'static>) -> Task {
    match table() {
        None => Task(Number::default()),
        Some(table) => Task(Number::new((table.task_create)(
            kind,
            site(table, location),
            scope,
        ))),
    }
}

/// A task that runs on this thread; its drop is the task's end.
#[derive(Debug)]
#[must_use = "the task ends when this is dropped"]
pub struct Running {
    _of_this_thread: PhantomData<*const ()>,
}

impl Drop for Running {
    #[inline]
    fn drop(&mut self) {
        if let Some(table) = table() {
            (table.task_end)();
        }
    }
}

/// A task that stopped, to go on elsewhere.
#[derive(Debug)]
#[must_use = "the task has to go on somewhere"]
pub struct Stopped(Number);

impl Running {
    /// The task stops here, waiting for nobody, and goes on where [`Stopped::resume`] is called.
    #[inline]
    #[track_caller]
    pub fn leave(self) -> Stopped {
        core::mem::forget(self);
        leave_here(Location::caller())
    }
}

/// The current task, one that began without a [`Running`] guard (a thread's root task), stops here and goes on elsewhere.
#[inline]
#[track_caller]
pub fn leave() -> Stopped {
    leave_here(Location::caller())
}

#[inline]
fn leave_here(location: &'static Location<'static>) -> Stopped {
    Stopped(table().map_or(Number::default(), |t| {
        Number::new((t.leave_task)(site(t, location)))
    }))
}

impl Stopped {
    /// The task goes on here, on top of what this thread does.
    #[inline]
    pub fn resume(self) -> Running {
        if let Some(table) = table() {
            (table.resume_yielded)(self.0.get());
        }
        Running {
            _of_this_thread: PhantomData,
        }
    }
}

/// The current task goes on when this is dropped.
pub(crate) struct Goes(pub(crate) &'static Table);

impl Drop for Goes {
    #[inline]
    fn drop(&mut self) {
        (self.0.resume)();
    }
}

/// Numbers as a list.
pub(crate) fn numbers(items: impl Iterator<Item = Number>) -> Vec<u64> {
    items.map(Number::get).collect()
}

/// The current task stops, waiting for nobody, while `other` runs (other tasks, as a rule).
#[inline]
#[track_caller]
pub fn yield_while<R>(other: impl FnOnce() -> R) -> R {
    let Some(table) = table() else { return other() };
    (table.yield_task)(site(table, Location::caller()));
    let _goes = Goes(table);
    other()
}

/// The current task waits, in `blocking`, until all children it created and has not yet waited for have ended.
/// `blocking` may run other tasks.
#[inline]
#[track_caller]
pub fn wait_children<R>(blocking: impl FnOnce() -> R) -> R {
    let Some(table) = table() else {
        return blocking();
    };
    (table.wait_children)(site(table, Location::caller()));
    let _goes = Goes(table);
    blocking()
}

/// The current task waits, in `blocking`, until these tasks have ended.
#[inline]
#[track_caller]
pub fn wait_tasks<R>(tasks: &[Task], blocking: impl FnOnce() -> R) -> R {
    let Some(table) = table() else {
        return blocking();
    };
    let list = numbers(tasks.iter().map(|t| t.0));
    // SAFETY: the list lives during the call and has the length given.
    unsafe { (table.wait_tasks)(site(table, Location::caller()), list.as_ptr(), list.len()) };
    let _goes = Goes(table);
    blocking()
}
