//! The trace that was recorded last.

use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The largest number of run folders that are searched, the latest first.
const MAX_RUN_FOLDERS: usize = 50;

/// The trace that was written last, among the traces in `folder` itself and in the runs of its
/// `target/workspan/runs`. Links are not followed.
pub fn newest_trace(folder: &Path) -> Option<PathBuf> {
    let mut runs = folders(&folder.join("target/workspan/runs"));
    // The folders' names are times.
    runs.sort_unstable_by(|a, b| b.cmp(a));
    runs.truncate(MAX_RUN_FOLDERS);
    let all = std::iter::once(folder.to_owned()).chain(runs);
    let written = all.flat_map(|folder| traces(&folder));
    written.max().map(|(_, path)| path)
}

fn entries(folder: &Path) -> Vec<DirEntry> {
    fs::read_dir(folder).map_or_else(|_| Vec::new(), |all| all.flatten().collect())
}

fn folders(parent: &Path) -> Vec<PathBuf> {
    let is_folder = |entry: &DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let found = entries(parent).into_iter().filter(is_folder);
    found.map(|entry| entry.path()).collect()
}

/// The traces of a folder with the times at which they were written.
fn traces(folder: &Path) -> Vec<(SystemTime, PathBuf)> {
    let trace = |entry: DirEntry| {
        let path = entry.path();
        let is_trace = path.extension().is_some_and(|e| e == "wspan");
        let about = entry.metadata().ok().filter(|about| about.is_file())?;
        is_trace.then_some((about.modified().ok()?, path))
    };
    entries(folder).into_iter().filter_map(trace).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use super::*;
    use std::time::Duration;

    #[test]
    fn the_trace_that_was_written_last_is_found_where_runs_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, second: u64| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let file = fs::File::create(&path).unwrap();
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(second);
            file.set_modified(time).unwrap();
            path
        };
        assert_eq!(newest_trace(folder.path()), None);
        let own = write("run.wspan", 10);
        write("notes.txt", 99);
        write("src/deep.wspan", 99);
        assert_eq!(newest_trace(folder.path()), Some(own.clone()));
        let later = write("target/workspan/runs/2026-01-01T00-00-00Z/a.wspan", 20);
        write("target/workspan/runs/2026-01-02T00-00-00Z/b.wspan", 15);
        assert_eq!(newest_trace(folder.path()), Some(later));
        std::os::unix::fs::symlink(&own, folder.path().join("link.wspan")).unwrap();
        write("run.wspan", 30);
        assert_eq!(newest_trace(folder.path()), Some(own));
    }
}
