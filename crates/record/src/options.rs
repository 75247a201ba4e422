//! The options of a recording, and how they are passed to the processes below.

pub mod fold;
pub mod keep_windows;
pub mod max_overhead;
pub mod processes;
pub mod settings;
pub mod triggers;
