//! Scopes: sets of tasks that are waited for together.

use core::panic::Location;

use crate::site::site;
use crate::table::{Number, table};
use crate::task::{ResumeOnDrop, Task, create};

/// A scope that the current task opened. Any task may create into it; the opener waits for it,
/// once.
///
/// ```
/// let scope = workspan_api::Scope::group();
/// let task = scope.create();
/// drop(task.begin());
/// scope.wait(|| ());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scope(Number);

impl Scope {
    /// Opens a scope whose members are the tasks created into it.
    ///
    /// ```
    /// let scope = workspan_api::Scope::group();
    /// scope.wait(|| ());
    /// ```
    #[inline]
    pub fn group() -> Scope {
        open(0)
    }

    /// Opens a scope whose members' children are members too.
    ///
    /// ```
    /// let scope = workspan_api::Scope::tree();
    /// scope.wait(|| ());
    /// ```
    #[inline]
    pub fn tree() -> Scope {
        open(1)
    }

    /// The current task creates a task into this scope that another thread may take.
    ///
    /// ```
    /// let scope = workspan_api::Scope::group();
    /// let task = scope.create();
    /// std::thread::spawn(move || drop(task.begin())).join().unwrap();
    /// scope.wait(|| ());
    /// ```
    #[inline]
    #[track_caller]
    #[must_use = "the task has to begin somewhere"]
    pub fn create(self) -> Task {
        create(1, self.0.get(), Location::caller())
    }

    /// The current task creates a task into this scope that no other thread may take.
    ///
    /// ```
    /// let scope = workspan_api::Scope::group();
    /// drop(scope.create_inline().begin());
    /// scope.wait(|| ());
    /// ```
    #[inline]
    #[track_caller]
    #[must_use = "the task has to begin somewhere"]
    pub fn create_inline(self) -> Task {
        create(2, self.0.get(), Location::caller())
    }

    /// The opener waits, in `blocking`, until all members have ended. That closes the scope.
    ///
    /// ```
    /// let scope = workspan_api::Scope::group();
    /// let task = scope.create();
    /// let thread = std::thread::spawn(move || drop(task.begin()));
    /// scope.wait(|| thread.join()).unwrap();
    /// ```
    #[inline]
    #[track_caller]
    pub fn wait<R>(self, blocking: impl FnOnce() -> R) -> R {
        let Some(table) = table() else {
            return blocking();
        };
        (table.wait_scope)(site(table, Location::caller()), self.0.get());
        let _resume = ResumeOnDrop(table);
        blocking()
    }
}

#[inline]
fn open(kind: u32) -> Scope {
    Scope(table().map_or(Number::default(), |t| Number::new((t.scope_open)(kind))))
}
