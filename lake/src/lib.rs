//! A lake of Parquet files with the results of many runs (one file per run and table), and queries
//! to all of them.
//!
//! `workspan lake …` starts this program. It is a separate package because the query engine is
//! large; the tool itself does not need it. [`layout`] says where files are and why a reader never
//! sees an incomplete run; [`engine`] says how queries are answered.

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
