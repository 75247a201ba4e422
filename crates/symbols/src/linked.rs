//! What a program is linked with.

use std::path::Path;

use object::{Object as _, ObjectSymbol};

use crate::object_file::Store;

/// Libraries a program names, and functions it brings along.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Linked {
    /// As the program names them (`DT_NEEDED`): `libgomp.so.1`, say. Libraries of libraries are not among them.
    pub libraries: Vec<String>,
    /// Of the functions asked for, those that the program defines itself.
    pub defined: Vec<String>,
}

/// Looks into the program at `path`; nothing is found in a file that can't be read.
#[must_use]
pub fn linked(path: &Path, functions: &[&str]) -> Linked {
    // The parser is not ours, and may meet anything here.
    std::panic::catch_unwind(|| look(path, functions))
        .ok()
        .flatten()
        .unwrap_or_default()
}

fn look(path: &Path, functions: &[&str]) -> Option<Linked> {
    const DT_NEEDED: u64 = 1;
    let store = Store::default();
    let object = store.open(path).ok()?;
    let section = |name| store.section(&object, Some(name)).ok();
    let names = section(".dynstr")?;
    let entries = section(".dynamic")?;
    let entries = entries.slice().chunks_exact(16).map(|entry| {
        let (tag, value) = entry.split_at(8);
        let word = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_le_bytes);
        (word(tag), word(value))
    });
    let libraries = entries
        .filter(|(tag, _)| *tag == DT_NEEDED)
        .filter_map(|(_, at)| {
            let name = names.slice().get(usize::try_from(at).ok()?..)?;
            let name = name.split(|byte| *byte == 0).next()?;
            Some(String::from_utf8_lossy(name).into_owned())
        })
        .collect();
    if functions.is_empty() {
        // There may be a million symbols to look through.
        return Some(Linked {
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
    Some(Linked { libraries, defined })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program_needs_the_c_library() {
        let own = linked(Path::new("/proc/self/exe"), &["main", "no_such_function"]);
        assert!(own.libraries.iter().any(|name| name.starts_with("libc.")));
        assert_eq!(own.defined, ["main"]);
        assert_eq!(linked(Path::new("/dev/null"), &["main"]), Linked::default());
    }
}
