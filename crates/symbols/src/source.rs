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
    /// The function a line stands in, as the text shows it: the nearest `fn` above (or at) it that is less indented. For
    /// closures, whose debug information does not name the function around them.
    pub(crate) fn function(&mut self, path: &Path, line: u32) -> Option<String> {
        if path.extension().is_none_or(|extension| extension != "rs") {
            return None;
        }
        let text = self.text(path)?;
        let above: Vec<&str> = text.lines().take(line as usize).collect();
        let indentation = |l: &str| l.len() - l.trim_start().len();
        let mut limit = indentation(above.last()?) + 1;
        above
            .iter()
            .rev()
            // A brace in the first column ends another item.
            .take_while(|l| **l != "}")
            .filter(|l| !l.trim().is_empty())
            .find_map(|l| {
                let name = if indentation(l) < limit {
                    declared(l)
                } else {
                    None
                };
                limit = limit.min(indentation(l).max(1));
                name
            })
    }

    /// The trimmed text of a 1-based line; `None` when there is no such file or line, or nothing in it.
    pub(crate) fn line(&mut self, path: &Path, line: u32) -> Option<String> {
        let line = self
            .text(path)?
            .lines()
            .nth(line.checked_sub(1)? as usize)?
            .trim();
        let end = (0..=line.len().min(LONGEST))
            .rev()
            .find(|&at| line.is_char_boundary(at))?;
        (end > 0).then(|| line[..end].to_owned())
    }

    fn text(&mut self, path: &Path) -> Option<&str> {
        self.files
            .entry(path.to_owned())
            .or_insert_with(|| read(path))
            .as_deref()
    }
}

/// The name of the function a line of Rust declares.
fn declared(line: &str) -> Option<String> {
    let line = line.trim_start();
    let line = line
        .strip_prefix("pub(")
        .and_then(|l| l.split_once(") "))
        .map_or(line, |(_, rest)| rest);
    let at = if line.starts_with("fn ") {
        3
    } else {
        line.find(" fn ")? + 4
    };
    if line.starts_with("//")
        || line[..at].contains(['"', '(', '|', '=']) && !line.contains("extern \"")
    {
        return None;
    }
    let name: String = line[at..]
        .trim_start()
        .chars()
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .collect();
    (!name.is_empty()).then_some(name)
}

fn read(path: &Path) -> Option<String> {
    let facts = std::fs::metadata(path).ok()?;
    if !facts.is_file() || facts.len() > LARGEST {
        return None;
    }
    Some(String::from_utf8_lossy(&std::fs::read(path).ok()?).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closures_function_is_the_one_around_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.rs");
        let text = "pub(crate) fn outer<T>(\n    x: T,\n) {\n    fn inner() {\n        1;\n    }\n    // no fn here\n    \
                    join(\n        || a(),\n        || b(),\n    );\n}\n\nconst X: fn () = f;\n";
        std::fs::write(&path, text).unwrap();
        let mut sources = Sources::default();
        assert_eq!(sources.function(&path, 9).as_deref(), Some("outer"));
        assert_eq!(sources.function(&path, 5).as_deref(), Some("inner"));
        assert_eq!(sources.function(&path, 1).as_deref(), Some("outer"));
        assert_eq!(sources.function(&path, 14), None);
        assert_eq!(sources.line(&path, 9).as_deref(), Some("|| a(),"));
        assert_eq!(sources.line(&path, 99), None);
    }
}
