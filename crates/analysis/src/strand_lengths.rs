//! What each strand adds to a path: its own weight, or its weight in faster code.

use workspan_dag::{Folded, StrandId};

use crate::weight::Weights;

/// The lengths of strands on paths, in one unit of their own.
pub(crate) trait StrandLengths {
    /// Length of strand `s` on a path through it.
    fn own(&self, s: StrandId) -> u128;

    /// Length of `ticks` of the record `fold` that stands in place of strand `s`.
    fn inside(&self, s: StrandId, fold: &Folded, ticks: u64) -> u128;
}

impl StrandLengths for Weights<'_> {
    fn own(&self, s: StrandId) -> u128 {
        self.path(s, 0)
    }

    fn inside(&self, s: StrandId, fold: &Folded, ticks: u64) -> u128 {
        Weights::inside(self, s, fold, ticks)
    }
}
