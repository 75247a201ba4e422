//! Where output goes.

use std::io::{self, Write};

/// Writes a line to stderr; nobody there to read it is no reason to stop.
#[macro_export]
macro_rules! say {
    ($($what:tt)*) => {
        $crate::output::message(&format!($($what)*))
    };
}

/// See [`say!`].
pub fn message(text: &str) {
    let text = escaped(text);
    let _ = writeln!(io::stderr().lock(), "workspan: {text}");
}

/// Writes `text` to stdout.
///
/// # Errors
/// As writing does; see [`is_broken_pipe`].
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// The error and its causes in one line.
pub fn one_line(error: &anyhow::Error) -> String {
    format!("{error:#}").replace('\n', "; ")
}

/// Characters that could control a terminal, as text.
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

/// True when the error is that nobody reads our output any more (`… | head -1`).
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|e| e.downcast_ref::<io::Error>());
    causes.any(|e| e.kind() == io::ErrorKind::BrokenPipe)
}
