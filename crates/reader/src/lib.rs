//! Reads traces of every format into a [`workspan_dag::Dag`], and writes text traces.
//!
//! [`open()`] recognises a file's format by its first bytes. [`recorded`] reads what
//! `workspan record` writes, [`text`] reads and writes text traces, [`formats`] lists the formats
//! of other tools, and [`packed`] handles any of them packed by gzip.

pub mod cilkscale;
mod csv;
pub mod dag_recorder;
pub mod formats;
mod mapped;
pub mod open;
pub mod otf2_print;
pub mod packed;
mod piped;
pub mod processes;
pub mod recorded;
mod released_pages;
mod short_names;
pub mod taskprof;
pub mod text;
pub mod utc;
pub mod woolplot;

pub use open::{OpenOptions, open, preview};
pub use recorded::preview::Preview;
