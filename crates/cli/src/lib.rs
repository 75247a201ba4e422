//! The command line tool: flags and glue. Both installed binaries, `workspan` and `cargo-workspan`,
//! are this library under two names, and so are its two roles for cargo (rustc wrapper, target
//! runner), distinguished by `argv[0]`.

#![deny(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "they panic when nobody reads; `say!` and `output::print` do not"
)]

pub mod advise;
pub mod bandwidth;
pub mod bench;
pub mod calibrate;
pub mod check;
pub mod command;
pub mod compare;
pub mod completions;
pub mod each;
pub mod export;
pub mod flame;
pub mod help;
pub mod html;
pub mod info;
pub mod lake;
pub mod lsp;
pub mod man;
pub mod mcp;
pub mod output;
pub mod output_file;
pub mod plot;
pub mod record;
pub mod report;
pub mod scale;
pub mod section;
pub mod simulate;
pub mod sql;
pub mod stack;
pub mod stretch;
pub mod timeline;
pub mod trace;
pub mod view;
pub mod whatif;

pub use workspan_record::say;
