//! The folded record (MODEL.md §7): a subtree that ran on one thread, reduced to what the measures need.
//!
//! It is the record of the file. In a [`crate::Dag`] its sites are places, ascending; in its blocks a place that is not known is
//! [`crate::NONE`].

pub use workspan_trace::folded::{FoldedRecord as Folded, FoldedSite};
