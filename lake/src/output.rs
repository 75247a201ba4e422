//! Writes to stdout and stderr.

use std::io::{self, Write};

/// Writes a line to stderr. If that fails, the program continues.
#[macro_export]
macro_rules! say {
    ($($what:tt)*) => {
        $crate::output::message(&format!($($what)*))
    };
}

/// Implements [`say!`].
pub fn message(text: &str) {
    let text = escaped(text);
    let _ = writeln!(io::stderr().lock(), "workspan: {text}");
}

/// Writes `text` to stdout.
///
/// # Errors
/// Writing fails; see [`is_broken_pipe`].
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// The error and its causes, in one line.
pub fn one_line(error: &anyhow::Error) -> String {
    format!("{error:#}").replace('\n', "; ")
}

/// Escapes characters that could control a terminal.
fn escaped(text: &str) -> String {
    let mut line = String::new();
    for c in text.chars() {
        if c.is_control() && c != '\n' {
            line.extend(c.escape_unicode());
        } else {
            line.push(c);
        }
    }
    line
}

/// True if the reader of our output closed the pipe (`… | head -1`).
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|e| e.downcast_ref::<io::Error>());
    causes.any(|e| e.kind() == io::ErrorKind::BrokenPipe)
}
