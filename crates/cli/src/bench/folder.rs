//! The folders of programs and traces, which are kept as long as they are needed.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::Context;

/// Writes a file unless it exists with that content, so that programs built from it stay up to
/// date.
///
/// # Errors
/// The file can't be written.
pub fn put(path: &Path, content: &str) -> anyhow::Result<()> {
    if fs::read(path).is_ok_and(|there| there == content.as_bytes()) {
        return Ok(());
    }
    let write = || -> io::Result<()> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let half = sibling(path);
        fs::write(&half, content)?;
        fs::rename(&half, path)
    };
    write().with_context(|| path.display().to_string())
}

/// A temporary name for a file that is renamed to `path` when it is complete.
pub fn sibling(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}", std::process::id()))
}

/// A folder for the traces of this run, which is removed at the end.
#[derive(Debug)]
pub struct RunFolder {
    /// Its path.
    pub path: PathBuf,
}

impl RunFolder {
    /// Makes a folder below `folder`, and removes the folders of runs that were killed.
    ///
    /// # Errors
    /// The folder can't be made.
    pub fn below(folder: &Path) -> anyhow::Result<Self> {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let pid = name.to_str().and_then(|n| n.strip_prefix("run-"));
            if pid.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
                // Another run may be removing it too.
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        let path = folder.join(format!("run-{}", std::process::id()));
        let made = fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&path);
        made.with_context(|| path.display().to_string())?;
        Ok(Self { path })
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        // If it can't be removed, the next run will remove it.
        let _ = fs::remove_dir_all(&self.path);
    }
}
