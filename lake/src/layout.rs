//! Names of files in a lake: `v1/TABLE/project=P/day=2026-11-23/RUN.parquet`.
//!
//! There is one file per run and table, and it never changes. A run is in the lake if its file of
//! the table `runs` exists; that file is written last.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::Path as FilePath;

use chrono::DateTime;
use object_store::path::Path;

use crate::root::Root;

/// The table whose file is written last.
pub const RUNS: &str = "runs";

/// Number of characters of a run's name.
const RUN_CHARACTERS: usize = 16;

/// A run's name: the first 64 bits of the BLAKE3 hash of its trace, in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunName(String);

impl RunName {
    /// The name of the run with the trace at `path`.
    ///
    /// # Errors
    /// The trace cannot be read.
    pub fn of_trace(path: &FilePath) -> io::Result<RunName> {
        let mut hash = blake3::Hasher::new();
        io::copy(&mut File::open(path)?, &mut hash)?;
        let hex = hash.finalize().to_hex();
        Ok(RunName(hex[..RUN_CHARACTERS].to_owned()))
    }

    /// The name of the run that a file in a lake belongs to; `None` if the file is not a run's.
    pub fn of_file(path: &Path) -> Option<RunName> {
        let name = path.filename()?.strip_suffix(".parquet")?;
        let is_hex = name.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        (name.len() == RUN_CHARACTERS && is_hex).then(|| RunName(name.to_owned()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The place of a run's files: the same in every table.
#[derive(Debug, Clone)]
pub struct RunPlace {
    /// The run's project.
    pub project: String,
    /// The day of the recording in UTC, for instance 2026-11-23.
    pub day: String,
    /// The run.
    pub run: RunName,
}

impl RunPlace {
    /// The place of the run that a file in a lake belongs to; `None` if the file is not a run's or
    /// is not in the folders of a project and a day.
    pub fn of_file(path: &Path) -> Option<RunPlace> {
        let run = RunName::of_file(path)?;
        let parts: Vec<_> = path.parts().collect();
        let mut folders = parts.iter().rev().skip(1);
        let mut value = |name: &str| {
            let value = folders.next()?.as_ref().strip_prefix(name)?;
            Some(value.to_owned())
        };
        let day = value("day=")?;
        let project = value("project=")?;
        Some(RunPlace { project, day, run })
    }

    /// The path of the run's file for a table.
    pub fn file(&self, root: &Root, table: &str) -> Path {
        root.table(table)
            .join(format!("project={}", self.project))
            .join(format!("day={}", self.day))
            .join(format!("{}.parquet", self.run))
    }
}

/// Makes `text` the name of a project, which may have letters, digits, `.`, `_` and `-`; other
/// characters become `_`. Every engine that reads folders named `project=…` then sees the same
/// name.
pub fn project_name(text: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let name: String = text
        .chars()
        .map(|c| if allowed(c) { c } else { '_' })
        .collect();
    let name = name.trim_matches('.');
    if name.is_empty() { "_" } else { name }.to_owned()
}

/// The UTC day of a time in seconds since 1970. A run of unknown time gets 1970-01-01.
pub fn day(seconds: Option<u64>) -> String {
    let seconds = i64::try_from(seconds.unwrap_or(0)).ok();
    let moment = seconds.and_then(|seconds| DateTime::from_timestamp(seconds, 0));
    moment.unwrap_or_default().format("%Y-%m-%d").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_of_known_moments() {
        assert_eq!(day(None), "1970-01-01");
        assert_eq!(day(Some(951_782_400)), "2000-02-29");
        assert_eq!(day(Some(1_795_651_199)), "2026-11-25");
        assert_eq!(day(Some(4_107_542_400)), "2100-03-01");
    }

    #[test]
    fn projects_are_names_that_every_engine_reads() {
        assert_eq!(project_name("sort-2.1"), "sort-2.1");
        assert_eq!(project_name("a b/../ü=1"), "a_b_..___1");
        assert_eq!(project_name(".."), "_");
    }

    #[test]
    fn the_place_of_a_file_is_in_its_path() {
        let root = Root::open("/runs").unwrap_or_else(|e| panic!("{e}"));
        let of = |path: &Path| RunPlace::of_file(path).map(|place| place.file(&root, RUNS));
        let path = "runs/v1/runs/project=p-1/day=2026-11-23/0123456789abcdef.parquet";
        assert_eq!(of(&Path::from(path)), Some(Path::from(path)));
        for other in [
            "runs/v1/runs/0123456789abcdef.parquet",
            "runs/v1/runs/day=2026-11-23/project=p/0123456789abcdef.parquet",
            "runs/v1/runs/project=p/day=2026-11-23/0123.parquet",
        ] {
            assert_eq!(of(&Path::from(other)), None, "{other}");
        }
    }

    #[test]
    fn only_runs_have_files() {
        let of = |name: &str| RunName::of_file(&Path::from(name)).is_some();
        assert!(of(
            "v1/runs/project=p/day=2026-11-23/0123456789abcdef.parquet"
        ));
        assert!(!of("v1/runs/0123456789abcdef.parquet.tmp"));
        assert!(!of("v1/runs/0123456789abcdeg.parquet"));
        assert!(!of("v1/runs/part-0.parquet"));
    }
}
