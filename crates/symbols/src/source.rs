//! The text of source lines.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Larger files are generated; nobody reads a line of them.
const LARGEST: u64 = 16 << 20;
/// A line is cut there, at a character's boundary.
const LONGEST: usize = 200;

/// Reads lines of source files, each file once.
#[derive(Default)]
pub(crate) struct Sources {
    files: BTreeMap<PathBuf, Option<String>>,
}

impl Sources {
    /// The trimmed text of a 1-based line; `None` when there is no such file or line, or nothing in it.
    pub(crate) fn line(&mut self, path: &Path, line: u32) -> Option<String> {
        let text = self
            .files
            .entry(path.to_owned())
            .or_insert_with(|| read(path))
            .as_deref()?;
        let line = text.lines().nth(line.checked_sub(1)? as usize)?.trim();
        let end = (0..=line.len().min(LONGEST))
            .rev()
            .find(|&at| line.is_char_boundary(at))?;
        (end > 0).then(|| line[..end].to_owned())
    }
}

fn read(path: &Path) -> Option<String> {
    let facts = std::fs::metadata(path).ok()?;
    if !facts.is_file() || facts.len() > LARGEST {
        return None;
    }
    Some(String::from_utf8_lossy(&std::fs::read(path).ok()?).into_owned())
}
