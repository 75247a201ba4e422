//! The tasks on a thread's stack.

use super::ExpandedFold;
use workspan_dag::{NONE, PlaceId};

/// A scope, as named in records.
pub(super) type Scope = (u32, u64);

/// A task on the stack.
pub(super) struct ExpandFrame {
    /// The index in the list of all tasks.
    pub task: u32,
    /// The start of its open strand.
    pub start: u64,
    pub from: PlaceId,
    /// The subtree that the open strand stands for, known just before the strand ends.
    pub fold: Option<ExpandedFold>,
    pub stopped: bool,
    /// The deferred child of the join that the task waits for.
    pub next: u32,
    /// Set if links are kept: its last strand, the tasks not yet waited for with the scope of each,
    /// the tasks it waits for, and those that its next strand waited for.
    pub last: u32,
    pub open: Vec<(u32, Option<Scope>)>,
    pub awaited: Vec<u32>,
    pub joined: Vec<u32>,
}

impl ExpandFrame {
    /// Creates the frame of `task`, which begins at `start`.
    pub fn new(task: u32, start: u64, from: PlaceId) -> ExpandFrame {
        ExpandFrame {
            task,
            start,
            from,
            fold: None,
            stopped: false,
            next: NONE,
            last: NONE,
            open: Vec::new(),
            awaited: Vec::new(),
            joined: Vec::new(),
        }
    }
}
