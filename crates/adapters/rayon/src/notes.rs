//! What the wrapper tells `cargo workspan`: lines of `key<TAB>text` appended to one file, because rustc's own output
//! belongs to cargo, and because several wrappers run at once.

use crate::environment;
use std::io::Write;
use std::path::Path;

/// Key: a rayon-core was compiled with the stand-in over it; the text is its version.
pub const RECORDED: &str = "recorded";
/// Key: a rayon-core was compiled as it is, so Rayon is not recorded; the text says which, why, and what to do.
pub const UNRECORDED: &str = "unrecorded";

/// Key: a rayon-core was compiled without hooks, so that steals by victim, failed attempts and sleep are not recorded; the
/// text says which and why.
pub const UNHOOKED: &str = "unhooked";

/// Appends a note. Without a file to write to, or when it cannot be written, nothing happens: a note is no reason to
/// fail the user's build.
pub fn leave(key: &str, text: &str) {
    let Some(path) = std::env::var_os(environment::NOTES) else {
        return;
    };
    if let Ok(mut file) = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
    {
        // One write, so that lines of wrappers running at once do not mix.
        let _ = file.write_all(format!("{key}\t{}\n", text.replace('\n', " ")).as_bytes());
    }
}

/// The notes in a file, as (key, text); none if there is no such file.
#[must_use]
pub fn read(path: &Path) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines()
        .filter_map(|line| line.split_once('\t'))
        .map(|(key, text)| (key.to_owned(), text.to_owned()))
        .collect()
}
