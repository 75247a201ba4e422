//! What if some code were faster? (MODEL.md §4, TaskProf's causal profile.)
//!
//! A target is some code: a spawn site, source lines, a region, a code block, or strands picked by
//! hand. For a factor k its weight *in the span* is divided by k while the work stays, so the
//! result is the parallelism that the program would have if that code were spread over k workers.
//! Each factor is one forward pass over the strands, in f64, rounded once when shown.
//!
//! A folded record may hide how much of the target is on its path. Then the path is left as it is,
//! which bounds the span from above. The span may be smaller by the target's part of the record's
//! own heaviest path, so the answer is an interval.

mod faster_sites;
mod outcome;
mod path;
mod profile;
mod profiler;
mod target_set;
mod target_weights;

pub use faster_sites::{FasterSite, faster_sites};
pub(crate) use outcome::check_factor;
pub use outcome::{Outcome, TargetProfile};
pub(crate) use path::FasterPaths;
pub use path::FasterStrand;
pub use profile::{WhatIf, what_if};
pub(crate) use profile::{outcomes_of_labels, what_if_weighed};
pub use target_set::TargetSet;
pub(crate) use target_weights::TargetWeights;
pub use target_weights::{contains_place, is_same_file};

use workspan_dag::{PlaceId, StrandId};

use crate::blocks::CodeBlock;

/// The factors of MODEL.md §4.
pub const DEFAULT_FACTORS: [f64; 8] = [2.0, 4.0, 8.0, 16.0, 50.0, 100.0, 200.0, 400.0];

/// Code that is to be faster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Strands of the tasks created at these positions (one site may have several places; 0 is the
    /// root).
    Site {
        /// The places.
        places: Vec<PlaceId>,
        /// Whether the strands of all their descendants are included.
        subtree: bool,
    },
    /// Source lines. For a strand with samples, the share that was taken in these lines or in
    /// functions called from there; for a strand without samples, its code block's share. Without
    /// any samples, the strands that begin there.
    Lines {
        /// Source file, or the end of its path.
        file: String,
        /// First line, 1-based.
        from: u32,
        /// Last line.
        to: u32,
    },
    /// Regions marked with this label (index into `dag.labels`), if they are the outermost.
    Region(u32),
    /// Locks, by the numbers of the objects waited for: the code that their holders ran while
    /// others waited.
    Lock(Vec<u64>),
    /// A code block.
    Block(CodeBlock),
    /// These strands, in any order; a folded one with everything that it stands for.
    Strands(Vec<StrandId>),
}
