//! The keys that `view` keeps by itself, one for each list of traces, so that a copied link works
//! again after a restart: `$XDG_STATE_HOME/workspan/view`, else `~/.local/state/workspan/view`.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use workspan_trace::checksum::checksum;

use super::key_file::KeyFile;

/// Keys of more lists of traces are not kept; those that were made first are removed.
const MAX_KEYS: usize = 500;

/// The key that is kept for these traces, or a new one; `None` if none can be kept.
pub(super) fn kept_for(files: &[PathBuf]) -> Option<KeyFile> {
    open_in(&folder()?, files)
}

fn folder() -> Option<PathBuf> {
    let set = |name: &str| {
        let path = PathBuf::from(std::env::var_os(name)?);
        path.is_absolute().then_some(path)
    };
    let state = set("XDG_STATE_HOME").or_else(|| Some(set("HOME")?.join(".local/state")))?;
    Some(state.join("workspan/view"))
}

fn open_in(folder: &Path, files: &[PathBuf]) -> Option<KeyFile> {
    // In the home of another user (`sudo`), folders of this one would be in the way.
    let existing = folder.ancestors().find(|path| path.exists())?;
    if fs::metadata(existing).ok()?.uid() != rustix::process::geteuid().as_raw() {
        return None;
    }
    let mut private = DirBuilder::new();
    private.recursive(true).mode(0o700).create(folder).ok()?;
    let mut names = Vec::new();
    for file in files {
        let path = fs::canonicalize(file).ok()?;
        names.extend_from_slice(path.as_os_str().as_encoded_bytes());
        names.push(0);
    }
    let path = folder.join(format!("{:016x}", checksum(&names, 0)));
    if !path.exists() {
        remove_oldest(folder);
    }
    KeyFile::open(&path).ok()
}

/// Makes room for one more key.
fn remove_oldest(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let made = |entry: &fs::DirEntry| entry.metadata().and_then(|m| m.modified()).ok();
    let mut keys: Vec<(Option<SystemTime>, PathBuf)> =
        entries.map(|entry| (made(&entry), entry.path())).collect();
    keys.sort();
    let surplus = (keys.len() + 1).saturating_sub(MAX_KEYS);
    for (_, path) in keys.drain(..surplus) {
        // One that stays is in nobody's way.
        let _ = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_list_of_traces_keeps_its_key() {
        let folder = tempfile::tempdir().unwrap();
        let traces = ["a", "b"].map(|name| folder.path().join(name));
        for trace in &traces {
            fs::write(trace, "").unwrap();
        }
        let keys = folder.path().join("state/workspan/view");
        let key_of = |files: &[PathBuf]| open_in(&keys, files).map(|kept| kept.key);
        let text = |files: &[PathBuf]| key_of(files).unwrap().text().to_owned();
        let first = text(&traces[..1]);
        assert_eq!(text(&traces[..1]), first);
        assert_eq!(text(&[folder.path().join("./a")]), first);
        assert_ne!(text(&traces[1..]), first);
        assert_ne!(text(&traces), first);
        let mode = fs::metadata(&keys).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        // What others can read is no key, and a missing trace has none.
        for entry in fs::read_dir(&keys).unwrap().flatten() {
            fs::set_permissions(entry.path(), fs::Permissions::from_mode(0o644)).unwrap();
        }
        assert!(key_of(&traces).is_none());
        assert!(key_of(&[folder.path().join("c")]).is_none());
    }

    #[test]
    fn the_folder_does_not_grow_without_end() {
        let folder = tempfile::tempdir().unwrap();
        let keys = folder.path().join("keys");
        fs::create_dir(&keys).unwrap();
        for i in 0..MAX_KEYS + 3 {
            fs::write(keys.join(i.to_string()), "").unwrap();
        }
        let trace = folder.path().join("a");
        fs::write(&trace, "").unwrap();
        assert!(open_in(&keys, &[trace]).is_some());
        assert_eq!(fs::read_dir(&keys).unwrap().count(), MAX_KEYS);
    }
}
