//! Reads the text of source lines.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Maximum size of a source file in bytes: larger ones are generated.
const MAX_FILE_BYTES: u64 = 16 << 20;
/// Maximum length of a line in bytes; longer ones are cut at a character's boundary.
const MAX_LINE_BYTES: usize = 200;
/// Maximum number of lines of one statement.
const MAX_CHAIN_LINES: u32 = 200;

/// Reads lines of source files, each file once.
#[derive(Default)]
pub(crate) struct Sources {
    files: BTreeMap<PathBuf, Option<String>>,
}

impl Sources {
    /// The function that contains a line, by the text: the nearest `fn` above it, or on it, with
    /// less indentation. For closures, whose debug information does not name the function around
    /// them.
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

    /// The line at which the chain of method calls in a line of Rust begins: the line that makes it
    /// parallel (`par_iter` and similar), else the statement's first line. `None` if the line does
    /// not begin with a method call.
    pub(crate) fn chain(&mut self, path: &Path, line: u32) -> Option<u32> {
        if path.extension().is_none_or(|extension| extension != "rs") {
            return None;
        }
        let text = self.text(path)?;
        let above: Vec<&str> = text.lines().take(line as usize).collect();
        let indentation = |l: &str| l.len() - l.trim_start().len();
        let (last, above) = above.split_last()?;
        if !is_method(last) || u32::try_from(above.len() + 1) != Ok(line) {
            return None;
        }
        let (mut start, mut parallel) = (None, is_parallel(last).then_some(line));
        for (at, l) in (1..line).zip(above).rev() {
            let code = l.trim_start();
            let inside = indentation(l) > indentation(last);
            if code.is_empty()
                || code.starts_with("//")
                || inside
                || code.starts_with([')', '}', ']'])
            {
                continue;
            }
            if is_parallel(l) {
                parallel = Some(at);
            }
            start = Some(at);
            if !is_method(l) {
                break;
            }
            if line - at > MAX_CHAIN_LINES {
                return None;
            }
        }
        parallel.or(start).filter(|&start| start < line)
    }

    /// The trimmed text of a 1-based line; `None` if the file or line does not exist, or if the
    /// line is empty.
    pub(crate) fn line(&mut self, path: &Path, line: u32) -> Option<String> {
        let line = self
            .text(path)?
            .lines()
            .nth(line.checked_sub(1)? as usize)?
            .trim();
        let end = (0..=line.len().min(MAX_LINE_BYTES))
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

/// Whether a line begins with a method call.
fn is_method(line: &str) -> bool {
    let rest = line.trim_start().strip_prefix('.');
    rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_alphabetic() || c == '_'))
}

/// Whether a line calls a method that makes a chain parallel.
fn is_parallel(line: &str) -> bool {
    [".par_", ".into_par_", "par_iter(", "par_bridge("]
        .iter()
        .any(|call| line.contains(call))
}

/// The name of the function that a line of Rust declares.
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
    if !facts.is_file() || facts.len() > MAX_FILE_BYTES {
        return None;
    }
    Some(String::from_utf8_lossy(&std::fs::read(path).ok()?).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_begins_where_it_becomes_parallel() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.rs");
        let text = "fn f() {
    let sum: u64 = items
        .par_chunks(32) // 3
        // Why.
        .map(|c| {
            c.iter()
                .map(|i| i + 1) // 7
                .fold(0, |a, b| a ^ b)
        })
        .reduce(|| 0, |a, b| a ^ b);
    let long = v.par_iter() // 11
        .sum();
    pool
        .install(|| 1); // 14
    v.par_iter().sum()
}
";
        std::fs::write(&path, text).unwrap();
        let mut sources = Sources::default();
        assert_eq!(sources.chain(&path, 10), Some(3));
        assert_eq!(sources.chain(&path, 8), Some(6));
        assert_eq!(sources.chain(&path, 12), Some(11));
        assert_eq!(sources.chain(&path, 14), Some(13));
        for alone in [3, 9, 11, 15, 99] {
            assert_eq!(sources.chain(&path, alone), None, "{alone}");
        }
    }

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
