//! Where recorded builds go: a folder of their own, because cargo does not notice a changed rustc
//! wrapper.

use std::path::{Path, PathBuf};

use crate::embedded;

/// The folder for what is built with recording compiled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildFolder {
    /// `<target>/workspan/<hash>`.
    pub path: PathBuf,
    /// It did not exist before.
    pub new: bool,
}

impl BuildFolder {
    /// Below the user's target directory; its name changes with everything that decides what is
    /// built there but the user's own sources and flags, which cargo tells apart itself.
    pub fn below(target: &Path, keep_profile: bool) -> Self {
        let name = embedded::hash(format!("{} {keep_profile}", embedded::fingerprint()).as_ref());
        let path = target.join("workspan").join(format!("{name:016x}"));
        let new = !path.exists();
        Self { path, new }
    }

    /// The file the rustc wrapper leaves its notes in.
    pub fn notes(&self) -> PathBuf {
        self.path.join("workspan-notes.txt")
    }
}
