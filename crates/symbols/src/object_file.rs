//! Opens object files, none of which is trusted, and reads their sections.

use std::borrow::Cow;
use std::fs::File;
use std::path::{Component, Path, PathBuf};

use gimli::{EndianSlice, RunTimeEndian};
use object::read::ReadCache;
use object::{Object as _, ObjectSection};
use typed_arena::Arena;

/// An open object file; the data read from it lives in a [`Store`].
pub(crate) type Object<'a> = object::File<'a, &'a ReadCache<File>>;
/// Part of a section.
pub(crate) type Slice<'a> = EndianSlice<'a, RunTimeEndian>;

/// Maximum size of a section in bytes: no program has debug information of that size, but a damaged
/// header may say so.
const MAX_SECTION_BYTES: u64 = 4 << 30;

/// The data read from a module and from the files that contain its debug information.
#[derive(Default)]
pub(crate) struct Store {
    files: Arena<ReadCache<File>>,
    unpacked: Arena<Vec<u8>>,
}

impl Store {
    /// Opens an object file. Reads only its headers.
    ///
    /// # Errors
    /// A sentence that says what is wrong with the file.
    pub(crate) fn open(&self, path: &Path) -> Result<Object<'_>, String> {
        let found = path_on_disk(path);
        let path = found.as_path();
        // This comes first, because opening a pipe would wait.
        match std::fs::metadata(path) {
            Ok(facts) if !facts.is_file() => {
                return Err(format!("{}: no longer exists", path.display()));
            }
            Err(error) => {
                return Err(format!(
                    "{}: can't be opened any more: {error}",
                    path.display()
                ));
            }
            Ok(_) => {}
        }
        let file = File::open(path)
            .map_err(|e| format!("{}: can't be opened any more: {e}", path.display()))?;
        let cache: &ReadCache<File> = self.files.alloc(ReadCache::new(file));
        object::File::parse(cache)
            .map_err(|e| format!("{}: is not a readable object file ({e})", path.display()))
    }

    /// A section's content, decompressed; empty if the file has no section of that name.
    ///
    /// # Errors
    /// The section is damaged.
    pub(crate) fn section<'a>(
        &'a self,
        object: &Object<'a>,
        name: Option<&str>,
    ) -> Result<Slice<'a>, String> {
        let endian = if object.is_little_endian() {
            RunTimeEndian::Little
        } else {
            RunTimeEndian::Big
        };
        let Some(section) = name.and_then(|name| object.section_by_name(name)) else {
            return Ok(EndianSlice::new(&[], endian));
        };
        let name = name.unwrap_or_default();
        // A separate debug file has the headers of sections whose content stayed in the module.
        if section.file_range().is_none() {
            return Ok(EndianSlice::new(&[], endian));
        }
        let data = section
            .compressed_data()
            .map_err(|e| format!("section {name}: {e}"))?;
        // A compressed section states its size, which is trusted as far as the best compression
        // allows.
        let packed = data.data.len() as u64;
        let compressed = data.format != object::CompressionFormat::None;
        if data.uncompressed_size > MAX_SECTION_BYTES
            || compressed && data.uncompressed_size > packed.saturating_mul(1100).max(1 << 16)
        {
            return Err(format!(
                "section {name}: states {} bytes, out of {packed} in the file",
                data.uncompressed_size
            ));
        }
        let bytes = match data
            .decompress()
            .map_err(|e| format!("section {name}: {e}"))?
        {
            Cow::Borrowed(bytes) => bytes,
            Cow::Owned(bytes) => self.unpacked.alloc(bytes),
        };
        Ok(EndianSlice::new(bytes, endian))
    }
}

/// Whether the file has line tables, or the skeletons that lead to them.
pub(crate) fn has_lines(object: &Object<'_>) -> bool {
    [".debug_line", ".zdebug_line"].iter().any(|name| {
        object
            .section_by_name(name)
            .is_some_and(|section| section.size() > 0 && section.file_range().is_some())
    })
}

/// The file's GNU build id.
pub(crate) fn build_id<'a>(object: &Object<'a>) -> Option<&'a [u8]> {
    object.build_id().ok().flatten().filter(|id| id.len() > 1)
}

/// The file that a trace's `path` names. A trace's text is UTF-8: each byte of a name that is not
/// valid became U+FFFD. Such a part of the path is searched for in its folder, and found if exactly
/// one file there has that form.
fn path_on_disk(path: &Path) -> PathBuf {
    let replaced = |name: &std::ffi::OsStr| name.to_string_lossy().contains('\u{FFFD}');
    if !path.iter().any(replaced) || path.exists() {
        return path.to_owned();
    }
    let mut found = PathBuf::new();
    for part in path.components() {
        let name = match part {
            Component::Normal(name) if replaced(name) => name.to_string_lossy(),
            _ => {
                found.push(part);
                continue;
            }
        };
        let entries = std::fs::read_dir(&found).into_iter().flatten().flatten();
        let mut same = entries
            .map(|entry| entry.file_name())
            .filter(|entry| entry.to_string_lossy() == name);
        match (same.next(), same.next()) {
            (Some(only), None) => found.push(only),
            _ => return path.to_owned(),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn a_file_whose_name_is_no_text_is_found_unless_two_read_alike() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join(OsStr::from_bytes(b"a\xff"));
        std::fs::create_dir(&inner).unwrap();
        let program = inner.join(OsStr::from_bytes(b"p\xfe"));
        std::fs::write(&program, "").unwrap();
        let in_trace = PathBuf::from(program.to_string_lossy().into_owned());
        assert_ne!(in_trace, program);
        assert_eq!(path_on_disk(&in_trace), program);
        std::fs::write(inner.join(OsStr::from_bytes(b"p\xfd")), "").unwrap();
        assert_eq!(path_on_disk(&in_trace), in_trace);
    }
}
