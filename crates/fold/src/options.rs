//! What a caller chooses about folding.

/// Which edges carry a burden (MODEL.md §2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Thieves {
    /// Thieves take children: the create edge of deferred ones.
    #[default]
    TakeChildren,
    /// Thieves take continuations: the edge to what follows a deferred create.
    TakeContinuations,
}

/// How to fold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoldOptions {
    /// Only what is shorter is folded, in ticks.
    pub grain: u64,
    /// The largest number of tasks in what is folded.
    pub max_tasks: u64,
    /// Who carries the burden.
    pub thieves: Thieves,
    /// Tasks of these sites stay tasks, ascending.
    pub kept: Vec<u32>,
    /// Bytes of memory for what may still be folded. Beyond, it no longer may.
    pub memory: usize,
}
