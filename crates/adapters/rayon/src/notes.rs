//! What the wrapper tells `cargo workspan`: lines of fields between tabs appended to one file, because rustc's own output
//! belongs to cargo, and because several wrappers run at once.

use crate::environment;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Key: a rayon-core was compiled with the stand-in over it; the text is its version.
pub const RECORDED: &str = "recorded";
/// Key: a rayon-core was compiled as it is, so Rayon is not recorded; the text says which, why, and what to do.
pub const UNRECORDED: &str = "unrecorded";

/// Key: a rayon-core was compiled without hooks, so that steals by victim, failed attempts and sleep are not recorded; the
/// text says which and why.
pub const UNHOOKED: &str = "unhooked";

/// What the wrapper told of one compilation of a rayon-core.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Note {
    /// [`RECORDED`], [`UNRECORDED`] or [`UNHOOKED`].
    pub key: String,
    /// What people are told.
    pub text: String,
    /// Name of the package that was compiled.
    pub package: String,
    /// Its version.
    pub version: String,
    /// The folder its manifest is in.
    pub folder: PathBuf,
}

/// Appends a note about the package that this call of rustc compiles, as cargo names it in the environment. Without a file
/// to write to, or when it cannot be written, nothing happens: a note is no reason to fail the user's build.
pub fn leave(key: &str, text: &str) {
    let Some(path) = std::env::var_os(environment::NOTES) else {
        return;
    };
    let variable = |name| std::env::var(name).unwrap_or_default();
    let fields = [
        key.to_owned(),
        text.to_owned(),
        variable("CARGO_PKG_NAME"),
        variable("CARGO_PKG_VERSION"),
        variable("CARGO_MANIFEST_DIR"),
    ];
    if let Ok(mut file) = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
    {
        // One write, so that lines of wrappers running at once do not mix.
        let line = fields
            .map(|field| field.replace(['\n', '\t'], " "))
            .join("\t");
        let _ = file.write_all(format!("{line}\n").as_bytes());
    }
}

/// The notes in a file, the oldest first; none if there is no such file. A build folder keeps what it has compiled, and so
/// its file of notes: some may be about packages that are not part of the build any more.
#[must_use]
pub fn read(path: &Path) -> Vec<Note> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines()
        .filter_map(|line| {
            let mut fields = line.split('\t').map(str::to_owned);
            Some(Note {
                key: fields.next()?,
                text: fields.next()?,
                package: fields.next()?,
                version: fields.next()?,
                folder: fields.next()?.into(),
            })
        })
        .collect()
}
