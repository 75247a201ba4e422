//! Whether an answer in words names a fault.

use super::fault::Fault;

/// What an answer names of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedFault {
    /// Whether it names a line or a function at fault.
    pub place: bool,
    /// Whether it names the cause.
    pub cause: bool,
}

impl NamedFault {
    /// Whether it names both.
    pub fn is_right(self) -> bool {
        self.place && self.cause
    }
}

/// Judges an answer.
pub fn judge(fault: &Fault, answer: &str) -> NamedFault {
    let text = answer.to_lowercase();
    let has = |word: &String| text.contains(&word.to_lowercase());
    let cause = fault.causes.iter().chain(&fault.words).any(has);
    let place = lines(&text, &fault.file())
        .iter()
        .any(|&(first, last)| fault.has_line(first) || fault.has_line(last))
        || fault.functions.iter().any(|name| mentions(&text, name));
    NamedFault { place, cause }
}

/// Whether the text has the function's name as a word of its own. `main` is in every program, so it
/// must be called a function.
fn mentions(text: &str, name: &str) -> bool {
    let name = name.to_lowercase();
    let forms = if name == "main" {
        vec!["`main`".to_owned(), "main()".to_owned()]
    } else {
        vec![name]
    };
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    forms.iter().any(|form| {
        text.match_indices(form.as_str()).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            let after = text[at + form.len()..].chars().next();
            !is_part(before) && !is_part(after)
        })
    })
}

/// Lines that the text names: `file.rs:12`, `file.rs:10-14`, `line 12`, `lines 10-14`,
/// `lines 10 to 14`.
fn lines(text: &str, file: &str) -> Vec<(u64, u64)> {
    let mut found = Vec::new();
    for before in [format!("{file}:"), "line ".to_owned(), "lines ".to_owned()] {
        for (at, _) in text.match_indices(before.as_str()) {
            let rest = &text[at + before.len()..];
            let Some((first, rest)) = number(rest) else {
                continue;
            };
            let more = ["-", "–", " to ", " - "];
            let second = more.iter().find_map(|m| number(rest.strip_prefix(m)?));
            found.push((first, second.map_or(first, |(last, _)| last)));
        }
    }
    found
}

fn number(text: &str) -> Option<(u64, &str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}
