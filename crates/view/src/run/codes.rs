//! What a strand's box is coloured and labelled by: the code it ran.

pub use workspan_analysis::codes::{Block, Code, Codes};
