//! Rayon: the stand-in for rayon-core, and the rustc wrapper that compiles it into the user's
//! program.
//!
//! `cargo workspan` [unpacks](sources::unpack) the stand-in's source, sets the variables of
//! [`environment`] and makes itself cargo's `RUSTC_WRAPPER`. When cargo calls it in that role, it
//! calls [`wrapper_main`]. Calls of rustc go through unchanged, with two exceptions:
//!
//! * The user's locked `rayon_core` is compiled under another name, from a copy with hooks, and the
//!   stand-in in its place ([`stand_in`]).
//! * Line tables are added if the profile has none ([`profile`]).

pub mod environment;
mod hooks;
pub mod invocation;
pub mod notes;
pub mod profile;
pub mod sources;
pub mod stand_in;
pub mod wrapper;

pub use wrapper::wrapper_main;
