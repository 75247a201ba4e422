//! The recording engine: builds the program if necessary, runs it with the preloaded library, turns
//! the files it leaves behind into traces, and reports where they are.
//!
//! `workspan record` and `cargo workspan` are flags on top of [`program::record`] and
//! [`cargo::record`]. The same executable also plays three roles for the engine, told apart by
//! `argv[0]`: see [`dispatch_role`].

#![deny(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "they panic when nobody reads; `say!` and `message::print` do not"
)]

pub mod cargo;
pub mod costs;
pub mod embedded;
pub mod flight_recorder;
pub mod instructions;
mod kernel;
pub mod lake;
pub mod launch;
pub mod machine;
pub mod message;
pub mod options;
pub mod outcome;
pub mod program;
pub mod progress;
mod roles;
mod run_notes;
pub mod trace_file;
pub mod units;

pub use roles::dispatch_role;
