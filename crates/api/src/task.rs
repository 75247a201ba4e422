//! Hand-made tasks: each step is reported on the thread where it happens.

use core::marker::PhantomData;
use core::panic::Location;

use crate::site::site;
use crate::table::{Number, Table, table};

const DEFERRED: u32 = 1;
const INLINE: u32 = 2;
const DETACHED: u32 = 3;

/// A task, as its creator and the thread that runs it know it. Copy it into the job.
///
/// ```
/// let task = workspan_api::Task::create();
/// let thread = std::thread::spawn(move || {
///     let _running = task.begin();
///     21 * 2
/// });
/// let answer = workspan_api::wait_tasks(&[task], || thread.join());
/// assert_eq!(answer.unwrap(), 42);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Task(pub(crate) Number);

impl Task {
    /// The current task creates a task that another thread may take: a spawn.
    ///
    /// ```
    /// let task = workspan_api::Task::create();
    /// drop(task.begin());
    /// workspan_api::wait_tasks(&[task], || ());
    /// ```
    #[inline]
    #[track_caller]
    #[must_use = "the task has to begin somewhere"]
    pub fn create() -> Task {
        create(DEFERRED, 0, Location::caller())
    }

    /// The current task creates a task that no other thread may take.
    ///
    /// ```
    /// let task = workspan_api::Task::create_inline();
    /// drop(task.begin());
    /// ```
    #[inline]
    #[track_caller]
    #[must_use = "the task has to begin somewhere"]
    pub fn create_inline() -> Task {
        create(INLINE, 0, Location::caller())
    }

    /// The current task creates a task that no task waits for.
    ///
    /// ```
    /// let task = workspan_api::Task::create_detached();
    /// std::thread::spawn(move || drop(task.begin()));
    /// ```
    #[inline]
    #[track_caller]
    #[must_use = "the task has to begin somewhere"]
    pub fn create_detached() -> Task {
        create(DETACHED, 0, Location::caller())
    }

    /// The task begins here, on top of what this thread does. It ends when the guard is dropped.
    ///
    /// ```
    /// let task = workspan_api::Task::create();
    /// let running = task.begin();
    /// // The task's work.
    /// drop(running);
    /// ```
    #[inline]
    pub fn begin(self) -> Running {
        if let Some(table) = table() {
            (table.task_begin)(self.0.get());
        }
        Running {
            _of_this_thread: PhantomData,
        }
    }

    /// This task can't begin before `on` has ended. Call this before this task begins.
    ///
    /// ```
    /// let (first, second) = (workspan_api::Task::create(), workspan_api::Task::create());
    /// second.depends_on(first);
    /// drop(first.begin());
    /// drop(second.begin());
    /// ```
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

/// A task that runs on this thread. Dropping it ends the task.
///
/// ```
/// let running: workspan_api::Running = workspan_api::Task::create().begin();
/// drop(running);
/// ```
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

/// A task that stopped and will go on elsewhere.
///
/// ```
/// let stopped: workspan_api::Stopped = workspan_api::Task::create().begin().leave();
/// drop(stopped.resume());
/// ```
#[derive(Debug)]
#[must_use = "the task has to go on somewhere"]
pub struct Stopped(Number);

impl Running {
    /// The task stops here, waits for nothing, and goes on where [`Stopped::resume`] is called.
    ///
    /// ```
    /// let stopped = workspan_api::Task::create().begin().leave();
    /// std::thread::spawn(move || drop(stopped.resume())).join().unwrap();
    /// ```
    #[inline]
    #[track_caller]
    pub fn leave(self) -> Stopped {
        core::mem::forget(self);
        leave_here(Location::caller())
    }
}

/// The current task stops here and goes on elsewhere. For a task that began without a [`Running`]
/// guard, which is a thread's root task.
///
/// ```
/// let root = workspan_api::leave();
/// std::mem::forget(root.resume());
/// ```
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
    ///
    /// ```
    /// let stopped = workspan_api::Task::create().begin().leave();
    /// let running = stopped.resume();
    /// drop(running);
    /// ```
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

/// Dropping this lets the current task go on.
pub(crate) struct ResumeOnDrop(pub(crate) &'static Table);

impl Drop for ResumeOnDrop {
    #[inline]
    fn drop(&mut self) {
        (self.0.resume)();
    }
}

/// Collects numbers for a call.
pub(crate) fn numbers(items: impl Iterator<Item = Number>) -> Vec<u64> {
    items.map(Number::get).collect()
}

/// The current task yields: it stops, waiting for nothing, while `other` runs. That is usually
/// other tasks.
///
/// ```
/// let other = workspan_api::Task::create();
/// workspan_api::yield_while(|| drop(other.begin()));
/// ```
#[inline]
#[track_caller]
pub fn yield_while<R>(other: impl FnOnce() -> R) -> R {
    let Some(table) = table() else { return other() };
    (table.yield_task)(site(table, Location::caller()));
    let _resume = ResumeOnDrop(table);
    other()
}

/// The current task waits, in `blocking`, until all children have ended that it created and has not
/// yet waited for. `blocking` may run other tasks.
///
/// ```
/// let child = workspan_api::Task::create();
/// workspan_api::wait_children(|| drop(child.begin()));
/// ```
#[inline]
#[track_caller]
pub fn wait_children<R>(blocking: impl FnOnce() -> R) -> R {
    let Some(table) = table() else {
        return blocking();
    };
    (table.wait_children)(site(table, Location::caller()));
    let _resume = ResumeOnDrop(table);
    blocking()
}

/// The current task waits, in `blocking`, until these tasks have ended.
///
/// ```
/// let task = workspan_api::Task::create();
/// let thread = std::thread::spawn(move || drop(task.begin()));
/// workspan_api::wait_tasks(&[task], || thread.join()).unwrap();
/// ```
#[inline]
#[track_caller]
pub fn wait_tasks<R>(tasks: &[Task], blocking: impl FnOnce() -> R) -> R {
    let Some(table) = table() else {
        return blocking();
    };
    let list = numbers(tasks.iter().map(|t| t.0));
    // SAFETY: the list has the length that is passed, and outlives the call.
    unsafe { (table.wait_tasks)(site(table, Location::caller()), list.as_ptr(), list.len()) };
    let _resume = ResumeOnDrop(table);
    blocking()
}
