//! Output on stdout, with the colours, characters and width that it may use.

use std::io::{self, IsTerminal};
use std::os::fd::AsFd;

use workspan_export::Charset;

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set or TERM is `dumb`.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Color {
    /// Whether output to `out` is coloured.
    pub fn applies(self, out: &impl IsTerminal) -> bool {
        let refused = || {
            std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty())
                || std::env::var_os("TERM").is_some_and(|v| v == "dumb")
        };
        match self {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => out.is_terminal() && !refused(),
        }
    }
}

/// Block characters only on a terminal with a UTF-8 locale; only ASCII if requested.
pub fn charset(ascii: bool, out: &impl IsTerminal) -> Charset {
    if ascii {
        return Charset::Strict;
    }
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|v| !v.is_empty()))
        .unwrap_or_default()
        .to_ascii_lowercase();
    if out.is_terminal() && (locale.contains("utf-8") || locale.contains("utf8")) {
        Charset::Unicode
    } else {
        Charset::Ascii
    }
}

/// Number of columns of a report if the output is not a terminal.
const FILE_COLUMNS: usize = 100;
/// Minimum and maximum number of columns of a report, whatever the terminal has.
const COLUMNS: std::ops::RangeInclusive<usize> = 60..=200;

/// Number of columns of a report: that of the terminal, within `COLUMNS`.
pub fn width(out: &(impl IsTerminal + AsFd)) -> usize {
    if !out.is_terminal() {
        return FILE_COLUMNS;
    }
    match rustix::termios::tcgetwinsize(out) {
        Ok(size) if size.ws_col > 0 => {
            usize::from(size.ws_col).clamp(*COLUMNS.start(), *COLUMNS.end())
        }
        _ => FILE_COLUMNS,
    }
}

/// Writes `text` to stdout.
///
/// # Errors
/// stdout can't be written; see [`is_broken_pipe`].
pub fn print(text: &str) -> anyhow::Result<()> {
    Ok(workspan_record::message::print(text)?)
}

/// True if the error is that the reader of our output is gone (`workspan report t | head -1`).
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|e| e.downcast_ref::<io::Error>())
        .any(|e| e.kind() == io::ErrorKind::BrokenPipe)
}
