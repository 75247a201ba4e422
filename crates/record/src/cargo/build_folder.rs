//! The folder for recorded builds. It is separate because cargo does not notice a changed rustc
//! wrapper.

use std::path::{Path, PathBuf};

use crate::embedded;

/// The folder for programs that are built with recording compiled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildFolder {
    /// `<target>/workspan/<hash>`.
    pub path: PathBuf,
    /// Whether it did not exist before.
    pub new: bool,
}

impl BuildFolder {
    /// The folder below the user's target directory. Its name changes with everything that affects
    /// the build, except the user's sources and flags, which cargo checks itself.
    pub fn below(target: &Path, keep_profile: bool) -> Self {
        let name = embedded::hash(format!("{} {keep_profile}", embedded::fingerprint()).as_ref());
        let path = target.join("workspan").join(format!("{name:016x}"));
        let new = !path.exists();
        Self { path, new }
    }

    /// The file in which the rustc wrapper leaves its notes.
    pub fn notes(&self) -> PathBuf {
        self.path.join("workspan-notes.txt")
    }
}
