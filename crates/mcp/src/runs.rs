//! The runs of the last requests, read and measured.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use anyhow::Context;
use workspan_analysis::{Options, Report, report};
use workspan_dag::Dag;
use workspan_reader::OpenOptions;
use workspan_reader::open::{Grain, Index};

/// Maximum number of runs in memory.
const MAX_RUNS: usize = 3;

/// A run that was read and measured.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) dag: Dag,
    pub(crate) report: Report,
    pub(crate) measured: Options,
}

/// The identity of a file: a file that was rewritten is another one.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Key {
    path: PathBuf,
    bytes: u64,
    written: Option<SystemTime>,
}

/// The runs in memory; the most recently used one is last.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    open: Mutex<Vec<(Key, Arc<Run>)>>,
}

impl Runs {
    /// The run of the trace at `path`.
    ///
    /// # Errors
    /// The file is not a trace, or can't be read.
    pub(crate) fn get(&self, path: &Path) -> anyhow::Result<Arc<Run>> {
        let about = std::fs::metadata(path).with_context(|| path.display().to_string())?;
        let key = Key {
            path: path.to_owned(),
            bytes: about.len(),
            written: about.modified().ok(),
        };
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let run = match open.iter().position(|known| known.0 == key) {
            Some(at) => open.remove(at).1,
            None => Arc::new(read(path)?),
        };
        open.retain(|known| known.0.path != key.path);
        if open.len() >= MAX_RUNS {
            open.remove(0);
        }
        open.push((key, run.clone()));
        Ok(run)
    }
}

fn read(path: &Path) -> anyhow::Result<Run> {
    let dag = open(path, Grain::Auto)?;
    let measured = Options::default();
    let report = report(&dag, &measured)?;
    Ok(Run {
        dag,
        report,
        measured,
    })
}

/// Reads the intact part of a trace. Neither reads nor writes an index.
///
/// # Errors
/// The file is not a trace, or can't be read.
pub(crate) fn open(path: &Path, grain: Grain) -> anyhow::Result<Dag> {
    let options = OpenOptions {
        allow_truncated: true,
        grain,
        index: Index::None,
        ..OpenOptions::default()
    };
    Ok(workspan_reader::open(path, &options)?)
}
