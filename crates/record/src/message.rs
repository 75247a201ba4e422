//! Messages on stderr and results on stdout that never panic.

use std::fmt;
use std::io::{self, Write};

/// Writes a line to stderr; use it through [`say!`](crate::say). If stderr cannot be written, the
/// line is dropped.
///
/// `eprintln!` panics when stderr is a closed pipe or a full disk. The panic would replace the exit
/// code, which belongs to the recorded program.
pub fn say(line: fmt::Arguments<'_>) {
    // A single write, so that the lines of several processes do not mix.
    let line = format!("{line}\n");
    let _ = io::stderr().write_all(line.as_bytes());
}

/// Like `eprintln!`, but ignores errors of stderr ([`message::say`](crate::message::say)).
#[macro_export]
macro_rules! say {
    ($($line:tt)*) => {
        $crate::message::say(format_args!($($line)*))
    };
}

/// Writes `text` to stdout.
///
/// # Errors
/// Stdout cannot be written.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}
