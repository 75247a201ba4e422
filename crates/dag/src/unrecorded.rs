//! Subtrees that ran without being recorded, to stay inside the overhead budget (docs/budget.md).
//!
//! A strand that stands for one has a [`crate::Folded`] record like a folded subtree's, but what
//! that holds is estimated from subtrees of the same site that were drawn to be recorded in full;
//! all but its work, which was measured. Its count of strands is 0, as there is no probe inside.

use crate::dag::PlaceId;

/// How far off the estimates for one strand may be, each as (low, high). The record's own value
/// lies between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Bounds {
    /// The site whose subtrees ran there.
    pub site: PlaceId,
    /// Tasks created inside: 95 of 100 such intervals, of all strands of a site taken together,
    /// hold the true number.
    pub tasks: (u64, u64),
    /// Span inside, in ticks. The high one is for the strand that has the longest of all those
    /// alike, so that a path through whichever it is, is covered.
    pub span: (u64, u64),
}
