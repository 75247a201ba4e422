//! What the user may ask of a recording, and how the processes below are told.

pub mod fold;
pub mod keep_windows;
pub mod max_overhead;
pub mod processes;
pub mod settings;
pub mod triggers;
