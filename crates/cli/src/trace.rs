//! The trace file of a command.

use std::path::{Path, PathBuf};

use anyhow::Context;
use workspan_dag::{Dag, Error};
use workspan_export::TraceFile;
use workspan_reader::OpenOptions;
use workspan_reader::open::{Grain, Index};
use workspan_record::units::{self, ParseError};

/// How to open a trace.
#[derive(Debug, Clone, clap::Args)]
pub struct TraceArgs {
    /// A recorded trace (.wspan) or a text trace; recognised by content; - for standard input
    #[arg(value_name = "FILE", value_parser = input)]
    pub file: PathBuf,
    /// How much of the trace is read.
    #[command(flatten)]
    pub reading: Reading,
}

/// How much of a trace is read, and how.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Reading {
    /// Read truncated or damaged traces up to the damage
    #[arg(long)]
    pub allow_truncated: bool,
    /// Read every task, even in a large trace, where short subtrees are otherwise folded
    /// (docs/large-traces.md)
    #[arg(long)]
    pub full: bool,
    /// Fold subtrees that ran on one thread in less than this time, such as 50us, in a trace of any
    /// size
    #[arg(long, value_name = "TIME", conflicts_with = "full", value_parser = grain)]
    pub grain: Option<u64>,
    /// Neither read nor write the index of a large trace (run.wspan.index), which speeds up the
    /// next reading
    #[arg(long)]
    pub no_index: bool,
}

impl Reading {
    /// The options for a command that measures: short subtrees of large traces are folded, which
    /// changes no measure. With `raw`, probes stay in the measures.
    pub fn measured(&self, raw: bool) -> OpenOptions {
        OpenOptions {
            raw,
            grain: match self.grain {
                Some(ns) => Grain::Nanoseconds(ns),
                None if self.full => Grain::None,
                None => Grain::Auto,
            },
            index: if self.no_index {
                Index::None
            } else {
                Index::Slow
            },
            ..self.each_task()
        }
    }

    /// The command-line options with the same meaning.
    fn options(&self) -> Vec<String> {
        let given = [
            (self.allow_truncated, "--allow-truncated"),
            (self.full, "--full"),
        ];
        let given = given.into_iter().filter(|given| given.0);
        let grain = self.grain.map(|ns| format!("--grain {ns}ns"));
        given.map(|given| given.1.to_owned()).chain(grain).collect()
    }

    /// The options for a command that needs each task.
    pub fn each_task(&self) -> OpenOptions {
        OpenOptions {
            allow_truncated: self.allow_truncated,
            grain: self.grain.map_or(Grain::None, Grain::Nanoseconds),
            ..OpenOptions::default()
        }
    }
}

/// A file to read; `-` is standard input.
pub fn input(name: &str) -> Result<PathBuf, std::convert::Infallible> {
    Ok(PathBuf::from(if name == "-" { "/dev/stdin" } else { name }))
}

fn grain(text: &str) -> Result<u64, ParseError> {
    match units::time(text)? {
        ns if (1.0..=1e12).contains(&ns) => Ok(ns as u64),
        _ => Err(ParseError::new(text, "a grain", "1ns to 1000s")),
    }
}

impl TraceArgs {
    /// Reads the trace for a command that measures; see [`Reading::measured`].
    ///
    /// # Errors
    /// The file can't be read or is not an intact trace; the message names the file and the place.
    pub fn open(&self) -> anyhow::Result<Dag> {
        open(&self.file, &self.reading.measured(false))
    }

    /// Reads the trace for a command that needs each task.
    ///
    /// # Errors
    /// See [`TraceArgs::open`].
    pub fn open_each_task(&self) -> anyhow::Result<Dag> {
        open(&self.file, &self.reading.each_task())
    }
}

/// Reads the trace at `path`.
///
/// # Errors
/// See [`TraceArgs::open`].
pub fn open(path: &Path, options: &OpenOptions) -> anyhow::Result<Dag> {
    workspan_reader::open(path, options).map_err(|error| match error {
        // The message names the file.
        Error::File { .. } => anyhow::Error::new(error),
        error => anyhow::Error::new(error).context(path.display().to_string()),
    })
}

/// The name and size of the trace at `path`, for a title.
///
/// # Errors
/// The file's size can't be determined.
pub fn describe(path: &Path, reading: &Reading) -> anyhow::Result<TraceFile> {
    let bytes = std::fs::metadata(path)
        .with_context(|| path.display().to_string())?
        .len();
    // The shortest path that names the file from the current folder.
    let here = std::env::current_dir().ok();
    let name = here
        .and_then(|here| path.strip_prefix(here).ok())
        .unwrap_or(path);
    Ok(TraceFile {
        name: name.display().to_string(),
        bytes,
        options: reading.options(),
    })
}
