//! The statistics of a run as text and JSON.

pub(crate) mod json;
mod text;

pub use text::statistics_text;
