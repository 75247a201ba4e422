//! Errors of reading a trace: what was being done and where, what was found, and what to do.

use std::path::PathBuf;

use workspan_trace::FormatError;

/// Why a trace could not be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file itself: missing, a directory, not readable.
    #[error("{path}: {what}", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What was found and what to do.
        what: String,
    },
    /// A line of a text trace.
    #[error("{}{what}", match line { 0 => String::new(), n => format!("line {n}: ") })]
    Text {
        /// 1-based line; 0 for the whole file.
        line: usize,
        /// Task, what was found and what was expected.
        what: String,
    },
    /// A place in a recorded trace.
    #[error("byte {offset}: {what}")]
    Recorded {
        /// Offset in the file.
        offset: u64,
        /// What was found, expected, and what to do.
        what: String,
    },
    /// The trace as a whole makes no sense (a cycle, too many tasks).
    #[error("{0}")]
    Trace(String),
}

impl From<FormatError> for Error {
    fn from(error: FormatError) -> Error {
        Error::Recorded {
            offset: error.offset,
            what: error.what,
        }
    }
}
