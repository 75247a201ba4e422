//! The formats of other tools that are read, one row each.
//!
//! To add one: a module that fills a [`workspan_dag::RawTrace`], and a row here. `workspan info` says what a row's format cannot
//! tell; fuzzers and tests go through the table.

use workspan_dag::{Dag, Error, Meta};

use crate::open::OpenOptions;
use crate::{dag_recorder, woolplot};

/// The key of the fact that names the format a trace came from.
pub const FORMAT_KEY: &str = "format";
/// The key of the fact with what that format cannot tell.
pub const CANNOT_TELL_KEY: &str = "not told by the format";

/// True for a run that came from a file of another tool, by whatever way.
pub fn is_imported(meta: &Meta) -> bool {
    meta.facts.iter().any(|fact| fact.0 == FORMAT_KEY)
}

/// A format that another tool writes.
pub struct Format {
    /// As people call it.
    pub name: &'static str,
    /// True for the beginning of such a file.
    pub begins: fn(&[u8]) -> bool,
    /// Reads such a file.
    pub read: fn(&[u8], &OpenOptions) -> Result<Dag, Error>,
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
pub static FORMATS: [Format; 2] = [dag_recorder::FORMAT, woolplot::FORMAT];

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
        let mut dag = (self.read)(bytes, options)?;
        let facts = &mut dag.meta.facts;
        facts.insert(0, (FORMAT_KEY.into(), self.name.into()));
        facts.push((CANNOT_TELL_KEY.into(), self.cannot_tell.join("; ")));
        Ok(dag)
    }
}
