//! The file that a command writes its result to.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{Context, bail};

/// Number of bytes that show whether a file is an earlier result.
const MAX_START_BYTES: u64 = 4096;

/// Opens `path` for a new result. A new file is private to its user, like the trace that its
/// contents come from, because it contains arguments and source lines. An existing file keeps its
/// mode. It is only replaced if it is empty, or if `is_earlier` returns true for its beginning, so
/// that it is an earlier result. Devices and pipes are written to.
///
/// # Errors
/// The file contains something else, or can't be opened.
pub fn create(path: &Path, is_earlier: impl FnOnce(&[u8]) -> bool) -> anyhow::Result<File> {
    let name = || format!("{}: can't be written", path.display());
    let there = match std::fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        there => Some(there.with_context(name)?),
    };
    if there.is_some_and(|there| there.is_file() && there.len() > 0) {
        let mut start = Vec::new();
        let read = File::open(path).and_then(|f| f.take(MAX_START_BYTES).read_to_end(&mut start));
        if read.is_err() || !is_earlier(&start) {
            bail!(
                "{}: exists and is not an earlier output of this kind; choose another name, or remove it",
                path.display()
            );
        }
    }
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
        .with_context(name)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that can't go on has failed")]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn nothing_else_is_written_over_and_new_files_are_private() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        std::fs::write(file("main.rs"), "fn main() {}").unwrap();
        std::fs::write(file("old"), "digraph old").unwrap();
        std::fs::write(file("empty"), "").unwrap();
        let create = |name: &str| create(&file(name), |start| start.starts_with(b"digraph"));
        let why = create("main.rs").unwrap_err().to_string();
        assert!(why.contains("not an earlier output"), "{why}");
        assert_eq!(std::fs::read(file("main.rs")).unwrap(), b"fn main() {}");
        for name in ["old", "empty", "new"] {
            create(name).unwrap();
            assert_eq!(std::fs::metadata(file(name)).unwrap().len(), 0, "{name}");
        }
        let mode = std::fs::metadata(file("new")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        super::create(Path::new("/dev/null"), |_| false).unwrap();
    }
}
