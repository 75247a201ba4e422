//! Rayon: the stand-in for rayon-core, and the rustc wrapper that slips it in.
//!
//! `cargo workspan` [unpacks](sources::unpack) the stand-in's source, sets the variables of [`environment`] and makes
//! itself cargo's `RUSTC_WRAPPER`; called as that, it hands over to [`wrapper_main`]. Every call of rustc goes through
//! as it came, but for the user's locked `rayon_core`: that is compiled under another name, and the stand-in in its
//! place over it ([`stand_in`]), hooks in a copy of the former; and but for line tables, which are added where there are none ([`profile`]).

pub mod environment;
mod hooks;
pub mod invocation;
pub mod notes;
pub mod profile;
pub mod sources;
pub mod stand_in;
pub mod wrapper;

pub use wrapper::wrapper_main;
