//! Starts the program: checks whether it can be recorded, sets its environment, starts its process,
//! and handles signals.

pub mod child;
pub mod each;
pub mod environment;
pub mod preflight;
mod process_stat;
mod remote_ranks;
pub mod runner;
pub mod runtime_swap;
mod sanitizer;
pub mod signals;
pub(crate) mod stall;
