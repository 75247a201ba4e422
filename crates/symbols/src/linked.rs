//! The libraries and functions that a program is linked with.

use std::fs::File;
use std::path::Path;

use object::elf::{DT_NEEDED, FileHeader64, PT_INTERP};
use object::read::ReadCache;
use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, Object as _, ObjectSymbol};

use crate::object_file::Store;

/// The libraries that a program names, and functions that it defines.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LinkedSymbols {
    /// The names in the program (`DT_NEEDED`), for instance `libgomp.so.1`. Libraries of libraries
    /// are not included.
    pub libraries: Vec<String>,
    /// The requested functions that the program defines itself.
    pub defined: Vec<String>,
}

/// Examines the program at `path`. The result is empty if the file can't be read.
#[must_use]
pub fn linked(path: &Path, functions: &[&str]) -> LinkedSymbols {
    // The parser is a foreign library and may panic on some files.
    std::panic::catch_unwind(|| look(path, functions))
        .ok()
        .flatten()
        .unwrap_or_default()
}

/// Whether the 64-bit ELF file at `path` requests the dynamic loader (`PT_INTERP`), without which
/// nothing can be preloaded; `None` if its headers can't be read.
#[must_use]
pub fn has_interpreter(path: &Path) -> Option<bool> {
    let look = || {
        let file = ReadCache::new(File::open(path).ok()?);
        let header = FileHeader64::<Endianness>::parse(&file).ok()?;
        let endian = header.endian().ok()?;
        let mut segments = header.program_headers(endian, &file).ok()?.iter();
        Some(segments.any(|segment| segment.p_type(endian) == PT_INTERP))
    };
    std::panic::catch_unwind(look).ok().flatten()
}

fn look(path: &Path, functions: &[&str]) -> Option<LinkedSymbols> {
    let store = Store::default();
    let object = store.open(path).ok()?;
    let object::File::Elf64(elf) = &object else {
        return None;
    };
    let dynamic = elf.elf_dynamic_table().ok()?;
    let libraries = dynamic
        .iter()
        .filter(|entry| entry.tag == DT_NEEDED)
        .filter_map(|entry| dynamic.string(entry).ok())
        .map(|name| String::from_utf8_lossy(name).into_owned())
        .collect();
    if functions.is_empty() {
        // There may be a million symbols.
        return Some(LinkedSymbols {
            libraries,
            defined: Vec::new(),
        });
    }
    let mut defined: Vec<String> = object
        .symbols()
        .chain(object.dynamic_symbols())
        .filter(|symbol| symbol.is_definition())
        .filter_map(|symbol| symbol.name().ok())
        .filter(|name| functions.contains(name))
        .map(str::to_owned)
        .collect();
    defined.sort();
    defined.dedup();
    Some(LinkedSymbols { libraries, defined })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program_needs_the_c_library() {
        let own = linked(Path::new("/proc/self/exe"), &["main", "no_such_function"]);
        assert!(own.libraries.iter().any(|name| name.starts_with("libc.")));
        assert_eq!(own.defined, ["main"]);
        assert_eq!(
            linked(Path::new("/dev/null"), &["main"]),
            LinkedSymbols::default()
        );
    }
}
