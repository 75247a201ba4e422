//! Many runs: a lake of Parquet files, one a run and table, and questions to all of them.
//!
//! `workspan lake …` is this program. It is a package of its own because the query engine is
//! large; the tool itself does without it. [`layout`] says where files are and why a reader never
//! sees half a run, [`engine`] how queries are answered.

#![deny(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "they panic when nobody reads; `say!` and `output::print` do not"
)]

pub mod add;
pub mod batches;
pub mod check;
pub mod command;
pub mod engine;
pub mod history;
pub mod layout;
pub mod output;
pub mod print;
pub mod queries;
pub mod root;
pub mod sql;
pub mod tables;
pub mod usual;
pub mod view;
