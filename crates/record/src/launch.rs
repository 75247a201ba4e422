//! Starting the program: whether it can be recorded, its environment, the process that becomes it,
//! and signals.

pub mod child;
pub mod each;
pub mod environment;
pub mod preflight;
mod process_stat;
pub mod runner;
pub mod runtime_swap;
mod sanitizer;
pub mod signals;
pub(crate) mod stall;
