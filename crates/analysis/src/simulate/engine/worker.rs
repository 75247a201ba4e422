//! A virtual worker.

use std::collections::VecDeque;

/// Why a task lies on a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Frame {
    /// It waits, for the wait of this number.
    Wait(u32, u32),
    /// It called what is above it.
    Call(u32),
}

/// What a worker does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Runs a task.
    Busy,
    /// On the way to another worker's queue.
    Seeking,
    /// Sleeps.
    Idle,
}

/// A virtual worker.
pub(super) struct Worker {
    pub(super) state: State,
    /// What it runs while busy.
    pub(super) task: u32,
    /// The create it stands at has been paid for.
    pub(super) paid: bool,
    pub(super) stack: Vec<Frame>,
    pub(super) queue: VecDeque<u32>,
    /// Events of another epoch are void.
    pub(super) epoch: u32,
}
