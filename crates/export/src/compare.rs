//! Formats comparisons of runs and checked limits, as text and as JSON.

mod cases;
mod change;
mod check;
mod ci;
mod json;
mod names;
mod text;

pub use cases::{EachRow, each_text};
pub use check::{check_json, check_text};
pub use ci::{check_github, check_junit, check_markdown, check_sarif};
pub use json::compare_json;
pub use text::{CompareOptions, compare_text, compare_words};

pub(crate) use change::signed_time;
pub(crate) use json::{place_json, position_json, ratio_json};
pub(crate) use names::{names, ns};
