//! Finds recorded lines in a text that may have changed since.

use crate::heat::{Line, Lines};

/// How a line of the text compares with the recorded one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// The line is unchanged.
    Same,
    /// The line is unchanged, but at another place.
    Moved {
        /// Its former number.
        from: u32,
    },
    /// The line has changed, or may have.
    Stale,
}

impl State {
    /// A note for a text about the line.
    pub(crate) fn note(self) -> &'static str {
        match self {
            State::Same | State::Moved { .. } => "",
            State::Stale => " (stale: changed since the recording)",
        }
    }
}

/// A recorded line in the text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PlacedLine<'a> {
    /// Its number in the text, from 1.
    pub(crate) number: u32,
    pub(crate) line: &'a Line,
    pub(crate) state: State,
}

/// All recorded lines of a file in its text, by their current numbers. `changed` is true if the
/// file was written, or the editor's text differs from it, after the run was recorded.
pub(crate) fn place<'a>(recorded: &'a Lines, text: &str, changed: bool) -> Vec<PlacedLine<'a>> {
    let all: Vec<&str> = text.lines().collect();
    let count = all.len() as u32;
    let same = |number: u32, line: &Line| {
        let now = all.get(number.wrapping_sub(1) as usize);
        let then = line.text.as_ref();
        now.zip(then)
            .is_some_and(|(now, then)| now.trim() == then.trim())
    };
    let mut shift = 0i64;
    let mut placed: Vec<PlacedLine> = recorded
        .iter()
        .map(|(&number, line)| {
            if !changed || same(number, line) {
                shift = 0;
                let state = State::Same;
                return PlacedLine {
                    number,
                    line,
                    state,
                };
            }
            if let Some(now) = nearest(&all, number, shift, line) {
                shift = i64::from(now) - i64::from(number);
                return PlacedLine {
                    number: now,
                    line,
                    state: State::Moved { from: number },
                };
            }
            // Shifted by as much as the line before it.
            let now = (i64::from(number) + shift).clamp(1, i64::from(count.max(1)));
            PlacedLine {
                number: now as u32,
                line,
                state: State::Stale,
            }
        })
        .collect();
    placed.sort_by_key(|placed| placed.number);
    placed
}

/// The line with that text closest to where it is expected; blank lines and braces are ignored, as
/// they are everywhere.
fn nearest(all: &[&str], number: u32, shift: i64, line: &Line) -> Option<u32> {
    let text = line.text.as_deref()?.trim();
    if text.chars().filter(|c| c.is_alphanumeric()).count() < 3 {
        return None;
    }
    let expected = i64::from(number) + shift;
    let equal = (1..).zip(all).filter(|(_, now)| now.trim() == text);
    let distance = |now: &u32| (i64::from(*now) - expected).unsigned_abs();
    equal.map(|(now, _)| now).min_by_key(distance)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(lines: &[(u32, Option<&str>)]) -> Lines {
        let line = |text: Option<&str>| Line {
            text: text.map(str::to_owned),
            ..Line::default()
        };
        lines.iter().map(|&(n, text)| (n, line(text))).collect()
    }

    fn placed(lines: &Lines, text: &str, changed: bool) -> Vec<(u32, State)> {
        let placed = place(lines, text, changed);
        placed.iter().map(|p| (p.number, p.state)).collect()
    }

    #[test]
    fn lines_are_found_again_or_called_stale() {
        let lines = recorded(&[
            (1, Some("fn main() {")),
            (3, Some("    sort(&mut v);")),
            (4, None),
            (9, Some("}")),
        ]);
        let old = "fn main() {\n\n    sort(&mut v);\n    x\n";
        let same = [1, 3, 4, 9].map(|n| (n, State::Same));
        assert_eq!(placed(&lines, old, false), same);
        // Two lines were added above: the known one moved, and those after it move along, but are
        // not certain.
        let new = "// a\n// b\nfn main() {\n\n        sort(&mut v);\n    x\n";
        assert_eq!(
            placed(&lines, new, true),
            [
                (3, State::Moved { from: 1 }),
                (5, State::Moved { from: 3 }),
                (6, State::Stale),
                (6, State::Stale),
            ]
        );
        let edited = "fn main() {\n\n    sort(&mut w);\n    x\n";
        let states = placed(&lines, edited, true);
        assert_eq!(states[0], (1, State::Same));
        assert_eq!(states[1], (3, State::Stale));
        assert_eq!(placed(&lines, "", true).len(), 4);
    }
}
