//! The formats of other tools that are read, one row each.
//!
//! To add one: a module that fills a [`workspan_dag::raw::RawTrace`], or a table of results, and a
//! row here. `workspan info` says what a row's format cannot tell; fuzzers and tests go through
//! the table.

use std::io::Read;
use std::path::Path;

use workspan_dag::{Dag, Error, Meta};

use crate::open::{self, OpenOptions};
use crate::{cilkscale, dag_recorder, otf2_print, taskprof, woolplot};

/// The key of the fact that names the format a trace came from.
pub const FORMAT_KEY: &str = "format";
/// The key of the fact with what that format cannot tell.
pub const CANNOT_TELL_KEY: &str = "not told by the format";

/// True for a run that came from a file of another tool, by whatever way.
pub fn is_imported(meta: &Meta) -> bool {
    meta.facts.iter().any(|fact| fact.0 == FORMAT_KEY)
}

/// Enough of a file to recognise its format.
const MAX_HEAD_BYTES: usize = 4096;

/// What a format holds, with its reader.
pub enum Reading {
    /// A run.
    Trace(fn(&[u8], &OpenOptions) -> Result<Dag, Error>),
    /// A table of results, of which no run can be made.
    Table(fn(&[u8]) -> Result<Table, Error>),
}

/// The results that another tool worked out.
#[derive(Debug, Clone, PartialEq)]
pub enum Table {
    /// Work and span by tag.
    Cilkscale(Vec<cilkscale::Tag>),
    /// Measures by spawn site.
    TaskProf(taskprof::Profile),
}

/// A format that another tool writes.
pub struct Format {
    /// As people call it.
    pub name: &'static str,
    /// True for the beginning of such a file.
    pub begins: fn(&[u8]) -> bool,
    /// Reads such a file.
    pub reading: Reading,
    /// What no file of this format tells, a phrase each.
    pub cannot_tell: &'static [&'static str],
}

impl std::fmt::Debug for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Format) -> bool {
        self.name == other.name
    }
}

impl Eq for Format {}

/// All of them.
pub static FORMATS: [Format; 5] = [
    dag_recorder::FORMAT,
    woolplot::FORMAT,
    otf2_print::FORMAT,
    cilkscale::FORMAT,
    taskprof::FORMAT,
];

/// The table of results in the file at `path` and what its format cannot tell; `None` for a trace,
/// and for what can't be opened as a file.
///
/// # Errors
/// The file is damaged.
pub fn table(path: &Path) -> Result<Option<(Table, &'static Format)>, Error> {
    // A pipe can be read once: it is left to those who read traces.
    if !std::fs::metadata(path).is_ok_and(|about| about.is_file()) {
        return Ok(None);
    }
    let mut start = [0; MAX_HEAD_BYTES];
    let read = std::fs::File::open(path).and_then(|mut file| file.read(&mut start));
    let begun = read.map_or(&[][..], |n| &start[..n]);
    let Some(format) = Format::of(begun) else {
        return Ok(None);
    };
    let Reading::Table(read) = &format.reading else {
        return Ok(None);
    };
    let bytes = std::fs::read(path)
        .map_err(|e| open::fail(path, &format!("can't be read ({e}); expected a trace file")))?;
    let table = read(&bytes).map_err(|error| open::named(path, error))?;
    Ok(Some((table, format)))
}

impl Format {
    /// The format of a file that begins so.
    pub fn of(bytes: &[u8]) -> Option<&'static Format> {
        FORMATS.iter().find(|format| (format.begins)(bytes))
    }

    /// Reads a file of this format; its facts say what the format is and cannot tell.
    ///
    /// # Errors
    /// Those of the format's reader.
    pub(crate) fn open(&self, bytes: &[u8], options: &OpenOptions) -> Result<Dag, Error> {
        let Reading::Trace(read) = &self.reading else {
            return Err(Error::Trace(format!(
                "is {}, a table of results without a timeline; expected a trace. `workspan report` shows the table{}",
                self.name,
                if *self == cilkscale::FORMAT {
                    ", `workspan scale --from` draws it"
                } else {
                    ""
                }
            )));
        };
        let mut dag = read(bytes, options)?;
        let facts = &mut dag.meta.facts;
        facts.insert(0, (FORMAT_KEY.into(), self.name.into()));
        facts.push((CANNOT_TELL_KEY.into(), self.cannot_tell.join("; ")));
        Ok(dag)
    }
}
