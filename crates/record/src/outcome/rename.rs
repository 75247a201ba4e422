//! Gives a finished trace its name.

use std::io;
use std::path::Path;

use crate::trace_file::finalize::private;

/// Renames a file, also across file systems.
pub(super) fn moved(from: &Path, to: &Path) -> io::Result<()> {
    match std::fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            let name = to
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let half = to.with_file_name(format!(".{name}.{}", std::process::id()));
            copied(from, &half)?;
            std::fs::rename(&half, to)?;
            std::fs::remove_file(from)
        }
        other => other,
    }
}

/// Copies a file to a new name. An existing file, for example a link to another file, is not
/// written to.
fn copied(from: &Path, to: &Path) -> io::Result<()> {
    let mut copy = private(to)?;
    let done = io::copy(&mut std::fs::File::open(from)?, &mut copy).and_then(|_| copy.sync_data());
    if done.is_err() {
        let _ = std::fs::remove_file(to);
    }
    done
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that can't go on has failed")]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_copy_is_private_and_no_link_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        std::fs::write(file("trace"), "trace").unwrap();
        std::fs::write(file("precious"), "precious").unwrap();
        std::os::unix::fs::symlink(file("precious"), file("link")).unwrap();
        assert!(copied(&file("trace"), &file("link")).is_err());
        assert_eq!(std::fs::read(file("precious")).unwrap(), b"precious");
        copied(&file("trace"), &file("copy")).unwrap();
        assert_eq!(std::fs::read(file("copy")).unwrap(), b"trace");
        let mode = std::fs::metadata(file("copy"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
