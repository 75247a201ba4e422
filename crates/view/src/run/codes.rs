//! What a strand's box is coloured and labelled by: the code it ran.

pub use workspan_analysis::codes::{Code, Codes};

/// What a code is called on the page; words where its place is not known.
pub(crate) fn shown(code: Option<&Code>) -> &str {
    match code.map(|code| code.label.as_str()) {
        None | Some("?") => "unknown place",
        Some(label) => label,
    }
}
