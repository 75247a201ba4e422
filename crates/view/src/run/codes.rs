//! What a strand's box is coloured and labelled by: the code it ran.

pub use workspan_analysis::codes::{Code, Codes};

/// For a place of which nothing is known.
pub(crate) const UNKNOWN_PLACE: &str = "unknown place";

/// What a code is called on the page; words where its place is not known.
pub(crate) fn shown(code: Option<&Code>) -> &str {
    match code.map(|code| code.label.as_str()) {
        None | Some("?") => UNKNOWN_PLACE,
        Some("after ?") => "after an unknown place",
        Some(label) => label,
    }
}
