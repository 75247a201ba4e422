//! The lines of the text: definitions and events.

use std::iter::Enumerate;
use std::slice::Split;

use workspan_dag::Error;

/// The first line of the text; a blank line may precede it.
const HEAD: &str = "=== OTF2-PRINT ===";

/// Whether the bytes begin like such a text.
pub(super) fn begins(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().starts_with(HEAD.as_bytes())
}

/// A line with contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// Kind, number and attributes.
    Definition(&'a str, Option<u64>, &'a str),
    /// Kind, location, time and attributes.
    Event(&'a str, u64, u64, &'a str),
}

/// The section of the text that a line is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    Definitions,
    Events,
    Other,
}

/// Whether a byte ends a line.
type LineEnd = fn(&u8) -> bool;

/// The lines, with their numbers.
pub(super) struct Lines<'a> {
    lines: Enumerate<Split<'a, u8, LineEnd>>,
    section: Section,
}

impl<'a> Lines<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Lines<'a> {
        let is_end: LineEnd = |b| *b == b'\n';
        Lines {
            lines: bytes.split(is_end).enumerate(),
            section: Section::Other,
        }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Result<(usize, Line<'a>), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (at, bytes) = self.lines.next()?;
            let number = at + 1;
            let Ok(text) = std::str::from_utf8(bytes) else {
                return Some(fail(number, "not UTF-8; expected what otf2-print prints"));
            };
            let text = text.trim_end();
            if text.starts_with("===") {
                self.section = match text {
                    t if t.starts_with("=== Global Definitions") => Section::Definitions,
                    t if t.starts_with("=== Events") => Section::Events,
                    _ => Section::Other,
                };
                continue;
            }
            // Indented lines belong to the line before: attributes, calling contexts.
            let is_entry = text.starts_with(|c: char| c.is_ascii_uppercase());
            let head = text.starts_with("Event ") || text.starts_with("Definition ");
            if self.section == Section::Other || text.is_empty() || text.starts_with("---") || head
            {
                continue;
            }
            if !is_entry {
                if text.starts_with([' ', '\t']) {
                    continue;
                }
                return Some(fail(number, "no event and no definition"));
            }
            let line = match self.section {
                Section::Events => event(text),
                _ => definition(text),
            };
            return Some(match line {
                Some(line) => Ok((number, line)),
                None => fail(
                    number,
                    "an event without a location and a whole number for its time; print it by `otf2-print -A`",
                ),
            });
        }
    }
}

/// An error at a line.
pub(super) fn fail<T>(line: usize, what: impl Into<String>) -> Result<T, Error> {
    Err(Error::Text {
        line,
        what: what.into(),
    })
}

/// The next word and what follows it.
fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    text.split_once(char::is_whitespace).unwrap_or((text, ""))
}

fn event(text: &str) -> Option<Line<'_>> {
    let (kind, rest) = word(text);
    let (location, rest) = word(rest);
    let (time, rest) = word(rest);
    let (location, time) = (location.parse().ok()?, time.parse().ok()?);
    Some(Line::Event(kind, location, time, rest.trim()))
}

fn definition(text: &str) -> Option<Line<'_>> {
    let (kind, rest) = word(text);
    let (number, after) = word(rest);
    // Some definitions, such as the clock's, have no number.
    Some(match number.parse() {
        Ok(number) => Line::Definition(kind, Some(number), after.trim()),
        Err(_) => Line::Definition(kind, None, rest.trim()),
    })
}

/// The value of the attribute `name`: a name without its quotes and number, or the text up to the
/// next comma.
pub(super) fn value<'a>(attributes: &'a str, name: &str) -> Option<&'a str> {
    let start = find(attributes, name)?;
    let text = &attributes[start..];
    match text.strip_prefix('"') {
        Some(quoted) => quoted.find("\" <").map(|end| &quoted[..end]),
        None => Some(text.split([',', ' ']).next().unwrap_or(text)),
    }
}

/// The number in angle brackets of the attribute `name`.
pub(super) fn reference(attributes: &str, name: &str) -> Option<u64> {
    let text = &attributes[find(attributes, name)?..];
    let text = match text.strip_prefix('"') {
        Some(quoted) => &quoted[quoted.find("\" <")? + 2..],
        None => text,
    };
    let number = text.strip_prefix('<')?;
    number[..number.find('>')?].parse().ok()
}

/// Where the value of the attribute `name` begins, outside of quoted names.
fn find(attributes: &str, name: &str) -> Option<usize> {
    let mut at = 0;
    while at < attributes.len() {
        let rest = attributes.get(at..)?;
        if let Some(quoted) = rest.strip_prefix('"') {
            at += 1 + quoted.find("\" <").map_or(quoted.len(), |end| end + 1);
        } else if let Some(value) = rest.strip_prefix(name).and_then(|r| r.strip_prefix(": ")) {
            return Some(attributes.len() - value.len());
        } else {
            // Skip to the text after the next comma, or after a quoted name before it.
            let next = rest.find(['"', ',']).filter(|&n| n > 0);
            let step = match (next, rest.starts_with(',')) {
                (_, true) => 1 + rest[1..].len() - rest[1..].trim_start().len(),
                (Some(n), _) => n,
                (None, _) => return None,
            };
            at += step;
        }
    }
    None
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_found_outside_of_names() {
        let text = r#"Name: "odd, Role: x" <5> (Aka. "b" <6>), Descr.: "" <0>, Role: TASK, File: "a b.c" <7>, Begin: 12, End: 15"#;
        assert_eq!(value(text, "Name"), Some("odd, Role: x"));
        assert_eq!(value(text, "Role"), Some("TASK"));
        assert_eq!(value(text, "File"), Some("a b.c"));
        assert_eq!(value(text, "Begin"), Some("12"));
        assert_eq!(reference(text, "File"), Some(7));
        assert_eq!(value(text, "Missing"), None);
        let text = r#"Thread Team: "OMP team" <3>, Creating Thread: 0 ("Master thread" <0>), Generation Number: 1"#;
        assert_eq!(reference(text, "Thread Team"), Some(3));
        assert_eq!(value(text, "Creating Thread"), Some("0"));
        assert_eq!(value(text, "Generation Number"), Some("1"));
    }
}
