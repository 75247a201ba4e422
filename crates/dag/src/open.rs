//! Opens a trace of any kind, by content.

use std::path::Path;

use crate::dag::Dag;
use crate::error::Error;

/// How to read.
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    /// Read what is intact before the damage of a truncated or corrupted trace, instead of failing.
    pub allow_truncated: bool,
}

/// Reads the trace at `path`, text or recorded, whichever its first bytes say it is.
///
/// # Errors
/// The file can't be read, is empty, is neither kind, or is damaged (see [`Error`]).
pub fn open(path: &Path, options: &OpenOptions) -> Result<Dag, Error> {
    let _ = (path, options);
    Err(Error::Trace("not implemented".into()))
}
