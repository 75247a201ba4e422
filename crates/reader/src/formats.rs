//! The supported formats of other tools, one entry each.
//!
//! To add one, write a module that fills a [`workspan_dag::raw::RawTrace`] or a table of results,
//! and add an entry here. `workspan info` prints what an entry's format lacks; fuzzers and tests go
//! through the table.

use std::io::Read;
use std::path::Path;

use workspan_dag::{Dag, Error, Meta};

use crate::open::{self, OpenOptions};
use crate::{cilkscale, dag_recorder, otf2_print, taskprof, woolplot};

/// The key of the fact that names the format a trace came from.
pub const FORMAT_KEY: &str = "format";
/// The key of the fact with the information that the format lacks.
pub const CANNOT_TELL_KEY: &str = "not told by the format";

/// Whether a run comes from a file of another tool, directly or converted.
pub fn is_imported(meta: &Meta) -> bool {
    meta.facts.iter().any(|fact| fact.0 == FORMAT_KEY)
}

/// The number of bytes of a file that are enough to recognise its format.
const MAX_HEAD_BYTES: usize = 4096;

/// The contents of a format, with its reader.
pub enum Reading {
    /// A run.
    Trace(fn(&[u8], &OpenOptions) -> Result<Dag, Error>),
    /// A table of results, from which no run can be built.
    Table(fn(&[u8]) -> Result<Table, Error>),
}

/// Results that another tool computed.
#[derive(Debug, Clone, PartialEq)]
pub enum Table {
    /// Work and span per tag.
    Cilkscale(Vec<cilkscale::Tag>),
    /// Measures per spawn site.
    TaskProf(taskprof::Profile),
}

/// The format of another tool.
pub struct Format {
    /// The format's usual name.
    pub name: &'static str,
    /// Whether the bytes begin like a file of this format.
    pub begins: fn(&[u8]) -> bool,
    /// Reads a file of this format.
    pub reading: Reading,
    /// The information that no file of this format has, a phrase each.
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

/// All supported formats.
pub static FORMATS: [Format; 5] = [
    dag_recorder::FORMAT,
    woolplot::FORMAT,
    otf2_print::FORMAT,
    cilkscale::FORMAT,
    taskprof::FORMAT,
];

/// The table of results in the file at `path`, and its format; `None` for a trace, and for a path
/// that cannot be opened as a file.
///
/// # Errors
/// The file is damaged.
pub fn table(path: &Path) -> Result<Option<(Table, &'static Format)>, Error> {
    // A pipe can be read only once, so it is left to the readers of traces.
    if !std::fs::metadata(path).is_ok_and(|about| about.is_file()) {
        return Ok(None);
    }
    let mut start = [0; MAX_HEAD_BYTES];
    let read = std::fs::File::open(path).and_then(|mut file| file.read(&mut start));
    let begun = read.map_or(&[][..], |n| &start[..n]);
    let Some(format) = Format::detect(begun) else {
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
    /// The format of a file with these first bytes.
    pub fn detect(bytes: &[u8]) -> Option<&'static Format> {
        FORMATS.iter().find(|format| (format.begins)(bytes))
    }

    /// Reads a file of this format. The facts of the run name the format and the information that
    /// it lacks.
    ///
    /// # Errors
    /// The errors of the format's reader.
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
