//! Options of folding.

/// Which edges carry a burden (MODEL.md §2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StealKind {
    /// Thieves take children: the create edge of deferred ones.
    #[default]
    TakeChildren,
    /// Thieves take continuations: the edge to what follows a deferred create.
    TakeContinuations,
}

/// Options of folding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoldOptions {
    /// Only shorter sections are folded, in ticks.
    pub grain: u64,
    /// The largest number of tasks in a folded record.
    pub max_tasks: u64,
    /// Which edges carry a burden.
    pub thieves: StealKind,
    /// Sites whose tasks are never folded, in ascending order.
    pub unfolded_sites: Vec<u32>,
    /// The memory for records that may still be folded, in bytes. Beyond it, the outermost sections
    /// are given up.
    pub memory: usize,
}
