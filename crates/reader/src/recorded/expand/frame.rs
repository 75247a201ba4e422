//! The tasks that a thread is in, one on top of the other.

use super::ExpandedFold;
use workspan_dag::{NONE, PlaceId};

/// A scope as records name it.
pub(super) type Scope = (u32, u64);

/// A task on the stack.
pub(super) struct ExpandFrame {
    /// Its place in the list of all.
    pub task: u32,
    /// Start of its open strand.
    pub start: u64,
    pub from: PlaceId,
    /// What it stands for, told just before it ends.
    pub fold: Option<ExpandedFold>,
    pub stopped: bool,
    /// The deferred child of the join that it waits for.
    pub next: u32,
    /// Where links are kept: its last strand, the tasks nobody waited for yet with the scope each
    /// is in, those it waits for, and those that its next strand waited for.
    pub last: u32,
    pub open: Vec<(u32, Option<Scope>)>,
    pub awaited: Vec<u32>,
    pub joined: Vec<u32>,
}

impl ExpandFrame {
    /// Of `task`, which begins at `start`.
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
