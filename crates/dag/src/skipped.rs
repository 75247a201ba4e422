//! Subtrees that ran without being recorded, to stay inside the overhead budget (docs/budget.md).
//!
//! A strand that stands for one has a [`crate::Folded`] record like a folded subtree's. Its work
//! was measured; everything else in it is estimated from sampled subtrees of the same site, which
//! were recorded in full. Its count of strands is 0, as there is no probe inside.

use crate::dag::PlaceId;

/// The error bounds of the estimates for one strand, each as (low, high). The record's own value
/// lies between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SkippedBounds {
    /// The site whose subtrees were skipped there.
    pub site: PlaceId,
    /// Number of tasks created inside. 95 of 100 such intervals hold the true number, taken over
    /// all strands of a site together.
    pub tasks: (u64, u64),
    /// Span inside, in ticks. The high value is for the longest of all similar strands, so that it
    /// covers a path through any of them.
    pub span: (u64, u64),
}
