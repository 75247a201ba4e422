//! Lines of styled text that fit a width and a character set.

use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthChar;

use crate::Charset;
use crate::quantity::NBSP;

/// The role of a piece of text; the page decides how it looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Strong,
    /// A word of a shell command, which is never shortened.
    Command,
    Faint,
    Path,
    Bar,
    Bad,
}

impl Tone {
    fn style(self) -> Style {
        match self {
            Tone::Plain => Style::new(),
            Tone::Strong | Tone::Command => Style::new().bold(),
            Tone::Faint => Style::new().dimmed(),
            Tone::Path => AnsiColor::Cyan.on_default(),
            Tone::Bar => AnsiColor::Blue.on_default(),
            Tone::Bad => AnsiColor::Yellow.on_default(),
        }
    }
}

/// A piece of a line.
pub(crate) type Piece = (Tone, String);

pub(crate) fn plain(text: impl Into<String>) -> Piece {
    (Tone::Plain, text.into())
}

pub(crate) fn strong(text: impl Into<String>) -> Piece {
    (Tone::Strong, text.into())
}

/// Wraps a paragraph at words so that no line has more than `width` columns (at least 60). Every
/// line is indented by `indent` columns.
pub fn paragraph(text: &str, indent: usize, width: usize) -> String {
    let mut page = Page::new(width, false, Charset::Unicode);
    page.prose(&" ".repeat(indent), indent, &[plain(text)]);
    page.finish()
}

/// A report under construction.
pub(crate) struct Page {
    out: String,
    width: usize,
    color: bool,
    charset: Charset,
}

impl Page {
    pub(crate) fn new(width: usize, color: bool, charset: Charset) -> Self {
        Self {
            out: String::new(),
            width: width.max(60),
            color,
            charset,
        }
    }

    pub(crate) fn width(&self) -> usize {
        self.width
    }

    pub(crate) fn unicode(&self) -> bool {
        self.charset == Charset::Unicode
    }

    pub(crate) fn finish(self) -> String {
        self.out
    }

    pub(crate) fn blank(&mut self) {
        self.out.push('\n');
    }

    /// Adds one line, cut at the width.
    pub(crate) fn line(&mut self, pieces: &[Piece]) {
        let mut left = self.width;
        let last = pieces.iter().rposition(|p| !p.1.trim_end().is_empty());
        for (i, (tone, text)) in pieces.iter().enumerate().take(last.map_or(0, |l| l + 1)) {
            let text = self.clean(text);
            let text = if Some(i) == last {
                text.trim_end()
            } else {
                &text
            };
            let text = cut_end(text, left);
            left -= columns(&text);
            self.styled(*tone, &text);
        }
        self.out.push('\n');
    }

    /// The number of lines so far.
    pub(crate) fn lines(&self) -> usize {
        self.out.matches('\n').count()
    }

    /// Running text, wrapped at words; further lines are indented by `hang`.
    pub(crate) fn prose(&mut self, first: &str, hang: usize, pieces: &[Piece]) {
        self.prose_at_most(usize::MAX, first, hang, pieces);
    }

    /// Like [`Page::prose`], cut after `max_lines` lines; a command that has begun is shown
    /// completely.
    pub(crate) fn prose_at_most(
        &mut self,
        max_lines: usize,
        first: &str,
        hang: usize,
        pieces: &[Piece],
    ) {
        let mut lines = 1;
        let mut words: Vec<(Tone, String, bool)> = Vec::new();
        let mut glued = false;
        for (tone, text) in pieces {
            let text = self.clean(text);
            if text.starts_with(' ') {
                glued = false;
            }
            for word in text.split(' ').filter(|w| !w.is_empty()) {
                words.push((*tone, word.to_string(), glued));
                glued = false;
            }
            glued = !text.ends_with(' ') && !text.is_empty();
        }
        let mut column = columns(first);
        self.out.push_str(first);
        let mut fresh = true;
        let mut i = 0;
        while i < words.len() {
            // Pieces without a space between them (a path and the comma after it) stay on one line.
            let mut end = i + 1;
            while end < words.len() && words[end].2 {
                end += 1;
            }
            let need: usize = words[i..end].iter().map(|w| columns(&w.1)).sum();
            if !fresh && column + 1 + need > self.width {
                let in_command = |w: &(Tone, String, bool)| w.0 == Tone::Command;
                let continues = i > 0 && in_command(&words[i - 1]) && in_command(&words[i]);
                if lines >= max_lines && !continues {
                    let mark = if self.unicode() { "…" } else { "..." };
                    let room = self.width.saturating_sub(column);
                    self.styled(Tone::Plain, &cut_end(mark, room));
                    break;
                }
                lines += 1;
                self.out.push('\n');
                self.out.push_str(&" ".repeat(hang));
                column = hang;
                fresh = true;
            }
            if !fresh {
                self.out.push(' ');
                column += 1;
            }
            for (tone, word, _) in &words[i..end] {
                let room = self.width.saturating_sub(column);
                let word = match tone {
                    Tone::Command => word.clone(),
                    _ => cut_start(word, room, self.unicode()),
                };
                column += columns(&word);
                self.styled(*tone, &word);
            }
            fresh = false;
            i = end;
        }
        self.out.push('\n');
    }

    fn styled(&mut self, tone: Tone, text: &str) {
        let text = &text.replace(NBSP, " ");
        if self.color && tone != Tone::Plain && !text.trim().is_empty() {
            let style = tone.style();
            self.out.push_str(&format!("{style}{text}{style:#}"));
        } else {
            self.out.push_str(text);
        }
    }

    /// Text from the trace without characters that could control a terminal or break a line.
    pub(crate) fn clean(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        for c in text.chars() {
            match c {
                '\t' => out.push(' '),
                NBSP => out.push(c),
                c if c.is_control() || is_bidi(c) => out.extend(c.escape_unicode()),
                c if !c.is_ascii() && self.charset == Charset::Strict => {
                    out.extend(c.escape_unicode())
                }
                c => out.push(c),
            }
        }
        out
    }

    /// `text` in exactly `width` columns. A text that is too long is cut at its start, because a
    /// path's end says more than its start.
    pub(crate) fn fit(&self, text: &str, width: usize) -> String {
        let text = cut_start(&self.clean(text), width, self.unicode());
        let pad = width - columns(&text).min(width);
        format!("{text}{}", " ".repeat(pad))
    }
}

/// Characters that change the writing direction, and so could make a line look like another one.
fn is_bidi(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Number of columns that a text takes on a terminal.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

fn cut_end(text: &str, width: usize) -> String {
    let mut used = 0;
    text.chars()
        .take_while(|c| {
            used += c.width().unwrap_or(0);
            used <= width
        })
        .collect()
}

fn cut_start(text: &str, width: usize, unicode: bool) -> String {
    if columns(text) <= width {
        return text.to_string();
    }
    let mark = if unicode { "…" } else { "..." };
    let keep = width.saturating_sub(columns(mark));
    let mut used = 0;
    let mut tail: Vec<char> = text
        .chars()
        .rev()
        .take_while(|c| {
            used += c.width().unwrap_or(0);
            used <= keep
        })
        .collect();
    tail.reverse();
    let cut: String = mark.chars().chain(tail).collect();
    cut_end(&cut, width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_wraps_inside_the_width_and_keeps_touching_pieces_together() {
        let mut page = Page::new(60, false, Charset::Ascii);
        let words = "word ".repeat(30);
        page.prose(
            "  > ",
            4,
            &[
                plain(words),
                (Tone::Path, "src/a_long_name.rs:37".into()),
                plain(", then more"),
            ],
        );
        let text = page.finish();
        assert!(text.lines().all(|l| columns(l) <= 60), "{text}");
        assert!(text.contains("src/a_long_name.rs:37, then more"), "{text}");
    }

    #[test]
    fn a_command_that_has_begun_is_not_cut_at_the_last_line() {
        let pieces = [
            plain("word ".repeat(11)),
            (
                Tone::Command,
                "workspan whatif run.wspan --metric time".into(),
            ),
            plain(format!(" {}", "word ".repeat(20))),
        ];
        let mut page = Page::new(60, false, Charset::Ascii);
        page.prose_at_most(1, "", 0, &pieces);
        let text = page.finish();
        assert!(!text.contains("workspan"), "{text}");
        let pieces = [
            plain("word ".repeat(8)),
            pieces[1].clone(),
            pieces[2].clone(),
        ];
        let mut page = Page::new(60, false, Charset::Ascii);
        page.prose_at_most(1, "", 0, &pieces);
        let text = page.finish().replace('\n', " ");
        assert!(
            text.contains("workspan whatif run.wspan --metric time"),
            "{text}"
        );
        assert!(text.trim_end().ends_with(".."), "{text}");
    }

    #[test]
    fn a_command_is_whole_however_long_its_words_are() {
        let mut page = Page::new(60, false, Charset::Ascii);
        let block = format!(
            "--block{NBSP}'root: {} -> end'",
            "src/long/path.rs:1 ".repeat(5)
        );
        let words = block.replace(' ', "\u{a0}");
        page.prose(
            "  > ",
            4,
            &[plain("try"), plain(" "), (Tone::Command, words)],
        );
        let text = page.finish().replace(NBSP, " ");
        assert!(text.contains(&block.replace(NBSP, " ")), "{text}");
    }

    #[test]
    fn a_label_cannot_steer_the_terminal() {
        let mut page = Page::new(80, true, Charset::Unicode);
        page.line(&[plain("evil \u{1b}[2J name\nnext")]);
        let text = page.finish();
        assert!(!text.contains('\u{1b}'), "{text:?}");
        assert_eq!(text.lines().count(), 1);
    }

    #[test]
    fn a_long_path_keeps_its_end() {
        let page = Page::new(80, false, Charset::Ascii);
        assert_eq!(
            page.fit("crates/very/deep/src/sort.rs:37", 16),
            "...rc/sort.rs:37"
        );
    }
}
