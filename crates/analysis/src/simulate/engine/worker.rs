//! A virtual worker.

use std::collections::VecDeque;

/// The reason why a task is on a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Frame {
    /// It is in the wait of this number.
    Wait(u32, u32),
    /// It called the task above it.
    Call(u32),
}

/// The state of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// It runs a task.
    Busy,
    /// It is on the way to another worker's queue.
    Seeking,
    /// It sleeps.
    Idle,
}

/// A virtual worker.
pub(super) struct Worker {
    pub(super) state: State,
    /// The task that it runs while busy.
    pub(super) task: u32,
    /// Whether the cost of its current create has been charged.
    pub(super) paid: bool,
    pub(super) stack: Vec<Frame>,
    pub(super) queue: VecDeque<u32>,
    /// Events of an earlier epoch are void.
    pub(super) epoch: u32,
}
