//! The statistics of a run as text and JSON.

pub(crate) mod json;
mod text;

pub use text::statistics_text;

/// Names of the edge kinds, by `EdgeKind as usize`.
const EDGES: [&str; 7] = [
    "create",
    "create_continuation",
    "wait_continuation",
    "yield_continuation",
    "end",
    "depend",
    "signal",
];
