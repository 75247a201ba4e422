//! The file of `view --key`: the key of the address in its first line, the port in its second.
//!
//! Anyone who reads it can read the run, so it must be a regular file of this user that no one else
//! can read.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use rustix::fs::OFlags;
use workspan_view::server::Key;

/// A key that outlives the server.
#[derive(Debug)]
pub(super) struct KeyFile {
    path: PathBuf,
    pub(super) key: Key,
    /// The port of the previous server.
    pub(super) port: Option<u16>,
}

/// Maximum size of the file in bytes: more than a key and a port take.
const MAX_BYTES: u64 = 100;

impl KeyFile {
    /// Reads the file, or makes it with a new key.
    ///
    /// # Errors
    /// The file has no key, is not a regular file, or others may read or write it.
    pub(super) fn open(path: &Path) -> anyhow::Result<KeyFile> {
        let name = || path.display().to_string();
        let file = match nofollow().read(true).open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let key_file = KeyFile {
                    path: path.to_owned(),
                    key: Key::random()?,
                    port: None,
                };
                key_file.write(nofollow().write(true).create_new(true).mode(0o600), None)?;
                return Ok(key_file);
            }
            Err(error) if error.raw_os_error() == Some(LOOP) => {
                bail!("{}: is a link; name the file itself", name())
            }
            Err(error) => return Err(error).with_context(name),
        };
        private(&file).with_context(name)?;
        let mut text = String::new();
        let read = file.take(MAX_BYTES).read_to_string(&mut text);
        let mut lines = text.lines();
        let key = lines.next().and_then(Key::parse);
        let (Ok(_), Some(key)) = (read, key) else {
            bail!(
                "{}: is not a file that `view --key` made; choose another name",
                name()
            );
        };
        Ok(KeyFile {
            path: path.to_owned(),
            key,
            port: lines.next().and_then(|port| port.parse().ok()),
        })
    }

    /// Stores the port, so that the address stays the same next time.
    ///
    /// # Errors
    /// The file can't be written.
    pub(super) fn keep_port(&self, port: u16) -> anyhow::Result<()> {
        if self.port == Some(port) {
            return Ok(());
        }
        self.write(nofollow().write(true).truncate(true), Some(port))
    }

    fn write(&self, how: &OpenOptions, port: Option<u16>) -> anyhow::Result<()> {
        let name = || format!("{}: can't be written", self.path.display());
        let mut file = how.open(&self.path).with_context(name)?;
        private(&file).with_context(name)?;
        let port = port.map(|port| format!("{port}\n")).unwrap_or_default();
        let text = format!("{}\n{port}", self.key.text());
        file.write_all(text.as_bytes()).with_context(name)
    }
}

/// The error of opening a link with [`OFlags::NOFOLLOW`].
const LOOP: i32 = rustix::io::Errno::LOOP.raw_os_error();

fn nofollow() -> OpenOptions {
    let mut options = File::options();
    // Opening a pipe must not wait.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    options.custom_flags(flags.bits() as i32);
    options
}

/// # Errors
/// The file is not a regular file, or others may read or write it.
fn private(file: &File) -> anyhow::Result<()> {
    let about: fs::Metadata = file.metadata()?;
    if !about.is_file() {
        bail!("is not a regular file");
    }
    if about.uid() != rustix::process::geteuid().as_raw() {
        bail!("belongs to another user");
    }
    if about.mode() & 0o077 != 0 {
        bail!("others may read it: `chmod 600` it, or choose another name");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_key_is_kept_for_its_user_alone() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let made = KeyFile::open(&at("key")).unwrap();
        assert_eq!(made.port, None);
        made.keep_port(8417).unwrap();
        let again = KeyFile::open(&at("key")).unwrap();
        assert_eq!(
            (again.key.text(), again.port),
            (made.key.text(), Some(8417))
        );
        let mode = fs::metadata(at("key")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        // Refuses links, readable files, and anything else.
        symlink(at("key"), at("link")).unwrap();
        fs::write(at("text"), "fn main() {}\n").unwrap();
        fs::set_permissions(at("text"), fs::Permissions::from_mode(0o600)).unwrap();
        fs::copy(at("key"), at("open")).unwrap();
        fs::set_permissions(at("open"), fs::Permissions::from_mode(0o644)).unwrap();
        for bad in ["link", "text", "open", "."] {
            assert!(KeyFile::open(&at(bad)).is_err(), "{bad}");
        }
        assert_eq!(fs::read_to_string(at("text")).unwrap(), "fn main() {}\n");
        assert!(!format!("{made:?}").contains(made.key.text()));
    }
}
