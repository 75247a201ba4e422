//! Errors of the format: what is wrong with a file, where, and what to do.

use std::fmt;

/// A file, or a part of one, that does not match the format. The text is one sentence or two: what
/// was found, what was expected, what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormatError {
    /// Offset in the file, in bytes.
    pub offset: u64,
    /// What was found and expected there, and what to do.
    pub what: String,
}

impl FormatError {
    /// Creates an error at `offset`.
    pub fn new(offset: u64, what: impl Into<String>) -> Self {
        FormatError {
            offset,
            what: what.into(),
        }
    }
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: {}", self.offset, self.what)
    }
}

impl std::error::Error for FormatError {}
