//! Work time stretch as text and as JSON.

mod json;
mod text;

pub use json::stretch_json;
pub use text::{StretchTables, stretch_text};
