//! Finds a module's debug information outside of the module: a separate debug file, as
//! distributions package them, found like debuggers do; and the file with common parts of several
//! debug files (dwz).

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use object::Object as _;

use crate::object_file::{Object, Store, build_id, has_lines};

/// The folder in which distributions put debug files.
const SYSTEM: &str = "/usr/lib/debug";
/// Maximum size in bytes of a debug file whose checksum is computed.
const MAX_CHECKED_BYTES: u64 = 4 << 30;

/// The separate debug file of `module`, which is the open file at `path`: by its build id below the
/// system's folder and next to the module, then by the name and checksum in `.gnu_debuglink` (GDB
/// manual, "Separate Debug Files").
pub(crate) fn find<'a>(
    store: &'a Store,
    module: &Object<'a>,
    path: &Path,
) -> Option<(PathBuf, Object<'a>)> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    if let Some(id) = build_id(module) {
        let roots = [Path::new(SYSTEM), folder];
        let found = roots
            .iter()
            .find_map(|root| with_id(store, &by_build_id(root, id), id));
        if found.is_some() {
            return found;
        }
    }
    let (name, checksum) = module.gnu_debuglink().ok().flatten()?;
    let name = Path::new(OsStr::from_bytes(name));
    // Only plain names, so that nothing in a module leads out of these folders.
    if name.file_name() != Some(name.as_os_str()) {
        return None;
    }
    let system_folder = Path::new(SYSTEM).join(folder.strip_prefix("/").unwrap_or(folder));
    let places = [
        folder.join(name),
        folder.join(".debug").join(name),
        system_folder.join(name),
    ];
    places
        .into_iter()
        .filter(|place| place != path)
        .find_map(|place| {
            let object = store.open(&place).ok()?;
            let same = match (build_id(module), build_id(&object)) {
                (Some(one), Some(other)) => one == other,
                _ => crc32_of(&place) == Some(checksum),
            };
            (same && has_lines(&object)).then_some((place, object))
        })
}

/// The file with the parts that `debug`, at `path`, shares with other debug files
/// (`.gnu_debugaltlink`).
pub(crate) fn supplementary<'a>(
    store: &'a Store,
    debug: &Object<'a>,
    path: &Path,
) -> Option<Object<'a>> {
    let (name, id) = debug.gnu_debugaltlink().ok().flatten()?;
    let named = path
        .parent()
        .unwrap_or(Path::new("/"))
        .join(OsStr::from_bytes(name));
    [named, by_build_id(Path::new(SYSTEM), id)]
        .into_iter()
        .find_map(|place| {
            let object = store.open(&place).ok()?;
            (build_id(&object) == Some(id)).then_some(object)
        })
}

fn with_id<'a>(store: &'a Store, path: &Path, id: &[u8]) -> Option<(PathBuf, Object<'a>)> {
    let object = store.open(path).ok()?;
    (build_id(&object) == Some(id) && has_lines(&object)).then(|| (path.to_owned(), object))
}

/// `<root>/.build-id/ab/cdef….debug`.
fn by_build_id(root: &Path, id: &[u8]) -> PathBuf {
    let mut text = String::new();
    for byte in id {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    let (first, rest) = text.split_at(text.len().min(2));
    root.join(".build-id")
        .join(first)
        .join(format!("{rest}.debug"))
}

/// CRC-32 (IEEE 802.3) of a file, as in `.gnu_debuglink`.
fn crc32_of(path: &Path) -> Option<u32> {
    let mut file = File::open(path).ok()?;
    if file.metadata().ok()?.len() > MAX_CHECKED_BYTES {
        return None;
    }
    let mut table = [0u32; 256];
    for (byte, entry) in table.iter_mut().enumerate() {
        *entry = (0..8).fold(byte as u32, |c, _| {
            (c >> 1) ^ if c & 1 == 1 { 0xedb8_8320 } else { 0 }
        });
    }
    let mut sum = u32::MAX;
    let mut buffer = vec![0u8; 1 << 16];
    loop {
        let length = file.read(&mut buffer).ok()?;
        if length == 0 {
            return Some(!sum);
        }
        sum = buffer[..length].iter().fold(sum, |sum, &byte| {
            (sum >> 8) ^ table[usize::from(sum as u8 ^ byte)]
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_and_names() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "123456789").unwrap();
        // The check value of this CRC.
        assert_eq!(crc32_of(file.path()), Some(0xcbf4_3926));
        assert_eq!(
            by_build_id(Path::new("/d"), &[0xab, 0x01, 0x02]),
            Path::new("/d/.build-id/ab/0102.debug")
        );
    }
}
