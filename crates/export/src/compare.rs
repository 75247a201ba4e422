//! Runs side by side, and limits checked, as text and as JSON.

mod change;
mod check;
mod json;
mod names;
mod text;

pub use check::{check_json, check_text};
pub use json::compare_json;
pub use text::{CompareOptions, compare_text};
