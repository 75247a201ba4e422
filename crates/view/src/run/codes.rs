//! The code that a strand ran, which gives its box a colour and a label.

pub use workspan_analysis::codes::{Code, Codes};

/// The label of a place without any information.
pub(crate) const UNKNOWN_PLACE: &str = "unknown place";

/// The name of a code on the page; a phrase if its place is not known.
pub(crate) fn shown(code: Option<&Code>) -> &str {
    match code.map(|code| code.label.as_str()) {
        None | Some("?") => UNKNOWN_PLACE,
        Some("after ?") => "after an unknown place",
        Some(label) => label,
    }
}
