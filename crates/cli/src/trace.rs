//! The trace file a command was given.

use std::path::{Path, PathBuf};

use anyhow::Context;
use workspan_dag::{Dag, Error, OpenOptions};
use workspan_export::TraceFile;

/// How to open a trace.
#[derive(Debug, Clone, clap::Args)]
pub struct TraceArgs {
    /// A recorded trace (.wspan) or a text trace; recognised by content
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Read what is intact before the damage of a truncated or corrupted trace
    #[arg(long)]
    pub allow_truncated: bool,
}

impl TraceArgs {
    /// Reads it.
    ///
    /// # Errors
    /// The file can't be read or is no intact trace; the message names the file and the place.
    pub fn open(&self) -> anyhow::Result<Dag> {
        open(
            &self.file,
            &OpenOptions {
                allow_truncated: self.allow_truncated,
            },
        )
    }
}

/// Reads the trace at `path`.
///
/// # Errors
/// As [`TraceArgs::open`].
pub fn open(path: &Path, options: &OpenOptions) -> anyhow::Result<Dag> {
    workspan_dag::open(path, options).map_err(|error| match error {
        // Names the file itself.
        Error::File { .. } => anyhow::Error::new(error),
        error => anyhow::Error::new(error).context(path.display().to_string()),
    })
}

/// Its name and size, for a title.
///
/// # Errors
/// The file's size can't be asked.
pub fn describe(path: &Path) -> anyhow::Result<TraceFile> {
    let bytes = std::fs::metadata(path)
        .with_context(|| path.display().to_string())?
        .len();
    // Shown as short as it still names the file from here.
    let here = std::env::current_dir().ok();
    let name = here
        .and_then(|here| path.strip_prefix(here).ok())
        .unwrap_or(path);
    Ok(TraceFile {
        name: name.display().to_string(),
        bytes,
    })
}
