//! Notes from the wrapper to `cargo workspan`: lines of fields, separated by tabs, that are
//! appended to one file. rustc's own output belongs to cargo, and several wrappers run at once.

use crate::environment;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Key: a rayon-core was compiled with the stand-in; the text is its version.
pub const RECORDED: &str = "recorded";
/// Key: a rayon-core was compiled unchanged, so Rayon is not recorded. The text says which version,
/// why, and what to do.
pub const UNRECORDED: &str = "unrecorded";

/// Key: a rayon-core was compiled without hooks, so steals by victim, failed attempts and sleep are
/// not recorded. The text says which version and why.
pub const UNHOOKED: &str = "unhooked";

/// A note about one compilation of a rayon-core.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Note {
    /// [`RECORDED`], [`UNRECORDED`] or [`UNHOOKED`].
    pub key: String,
    /// The text for the user.
    pub text: String,
    /// Name of the package that was compiled.
    pub package: String,
    /// Version of the package.
    pub version: String,
    /// The folder of the package's manifest.
    pub folder: PathBuf,
}

/// Appends a note about the package that this call of rustc compiles, as cargo names it in the
/// environment. If there is no file, or it cannot be written, nothing happens: a note must not fail
/// the user's build.
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
        // A single write, so that lines of concurrent wrappers do not mix.
        let line = fields
            .map(|field| field.replace(['\n', '\t'], " "))
            .join("\t");
        let _ = file.write_all(format!("{line}\n").as_bytes());
    }
}

/// The notes in a file, oldest first; none if there is no such file.
///
/// A build folder keeps what it has compiled, and so its file of notes. Some may be about packages
/// that are no longer part of the build.
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
