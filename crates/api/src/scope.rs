//! Scopes: sets of tasks that are waited for together.

use core::panic::Location;

use crate::site::site;
use crate::table::{Number, table};
use crate::task::{Goes, Task, create};

/// A scope the current task opened. Any task may create into it; the opener waits, once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scope(Number);

impl Scope {
    /// A scope whose members are the tasks created into it.
    #[inline]
    pub fn group() -> Scope {
        open(0)
    }

    /// A scope whose members' children are members too.
    #[inline]
    pub fn tree() -> Scope {
        open(1)
    }

    /// The current task creates a task into this scope that another thread may take.
    #[inline]
    #[track_caller]
    #[must_use = "the task has to begin somewhere"]
    pub fn create(self) -> Task {
        create(1, self.0.get(), Location::caller())
    }

    /// The current task creates a task into this scope that nobody may take.
    #[inline]
    #[track_caller]
    #[must_use = "the task has to begin somewhere"]
    pub fn create_inline(self) -> Task {
        create(2, self.0.get(), Location::caller())
    }

    /// The opener waits, in `blocking`, until all members have ended; the scope is closed then.
    #[inline]
    #[track_caller]
    pub fn wait<R>(self, blocking: impl FnOnce() -> R) -> R {
        let Some(table) = table() else {
            return blocking();
        };
        (table.wait_scope)(site(table, Location::caller()), self.0.get());
        let _goes = Goes(table);
        blocking()
    }
}

#[inline]
fn open(kind: u32) -> Scope {
    Scope(table().map_or(Number::default(), |t| Number::new((t.scope_open)(kind))))
}
