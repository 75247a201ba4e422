//! Where programs are built and traces are kept for as long as they are needed.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::Context;

/// Writes a file unless it is there with that content, so that what was built from it stays fresh.
///
/// # Errors
/// As writing does.
pub fn put(path: &Path, content: &str) -> anyhow::Result<()> {
    if fs::read(path).is_ok_and(|there| there == content.as_bytes()) {
        return Ok(());
    }
    let write = || -> io::Result<()> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let half = beside(path);
        fs::write(&half, content)?;
        fs::rename(&half, path)
    };
    write().with_context(|| path.display().to_string())
}

/// A name for what will be renamed to `path` when it is whole.
pub fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}", std::process::id()))
}

/// A folder for this run's traces, gone with it.
#[derive(Debug)]
pub struct RunFolder {
    /// Where it is.
    pub path: PathBuf,
}

impl RunFolder {
    /// Makes it below `folder`, and removes those of runs that were killed.
    ///
    /// # Errors
    /// It can't be made.
    pub fn below(folder: &Path) -> anyhow::Result<Self> {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let pid = name.to_str().and_then(|n| n.strip_prefix("run-"));
            if pid.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
                // Another run may be doing the same.
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
        // What can't be removed is removed by the next run.
        let _ = fs::remove_dir_all(&self.path);
    }
}
