//! Selects the wrapper's notes that concern the current build. Its folder also has the results of
//! earlier builds, for which the wrapper is not called again, so the file of notes has all of them.
//! The lock file lists the current packages.

use std::path::Path;

use toml::Table;
use workspan_rayon::notes::Note;

/// The source of a package.
#[derive(Debug, PartialEq, Eq)]
enum Source<'a> {
    Registry,
    /// A git repository, with the full or shortened revision.
    Git(&'a str),
    Path,
}

/// The notes about packages in the lock file at `lock`, without repeated texts; all notes if the
/// file cannot be read.
pub fn current(notes: Vec<Note>, lock: &Path) -> Vec<Note> {
    let locked = std::fs::read_to_string(lock)
        .ok()
        .and_then(|text| text.parse::<Table>().ok());
    let packages = locked
        .as_ref()
        .and_then(|lock| lock.get("package")?.as_array());
    let mut current: Vec<Note> = Vec::new();
    for note in notes {
        let there = packages.is_none_or(|all| all.iter().any(|package| is_of(package, &note)));
        // The last of several equal notes is kept: the program is linked with what was compiled
        // last.
        if there {
            current.retain(|known| (&known.key, &known.text) != (&note.key, &note.text));
            current.push(note);
        }
    }
    current
}

fn is_of(package: &toml::Value, note: &Note) -> bool {
    let text = |key: &str| package.get(key).and_then(toml::Value::as_str);
    text("name") == Some(&note.package)
        && text("version") == Some(&note.version)
        && match (locked_source(text("source")), folder_source(&note.folder)) {
            (Source::Git(whole), Source::Git(short)) => whole.starts_with(short),
            (locked, compiled) => locked == compiled,
        }
}

fn locked_source(source: Option<&str>) -> Source<'_> {
    match source {
        None => Source::Path,
        Some(text) => match text.strip_prefix("git+") {
            Some(git) => Source::Git(git.rsplit_once('#').map_or("", |(_, revision)| revision)),
            None => Source::Registry,
        },
    }
}

/// The source, from cargo's layout of downloaded packages. A vendored package counts as one from
/// the registry.
fn folder_source(folder: &Path) -> Source<'_> {
    if let Some((_, inside)) = folder
        .to_str()
        .and_then(|f| f.split_once("/git/checkouts/"))
    {
        // <name>-<hash>/<revision>/…
        return Source::Git(inside.split('/').nth(1).unwrap_or_default());
    }
    let unpacked = [".cargo-ok", ".cargo-checksum.json"];
    if unpacked.iter().any(|file| folder.join(file).exists()) {
        Source::Registry
    } else {
        Source::Path
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use workspan_rayon::notes::{RECORDED, UNRECORDED};

    fn note(key: &str, version: &str, folder: &Path) -> Note {
        Note {
            key: key.to_owned(),
            text: format!("{key} {version}"),
            package: "rayon-core".to_owned(),
            version: version.to_owned(),
            folder: folder.to_owned(),
        }
    }

    #[test]
    fn only_packages_of_this_build_count() {
        let place = tempfile::tempdir().unwrap();
        let (lock, registry) = (
            place.path().join("Cargo.lock"),
            place.path().join("registry"),
        );
        std::fs::create_dir(&registry).unwrap();
        std::fs::write(registry.join(".cargo-ok"), "").unwrap();
        let fork = place.path().join("fork");
        let checkout = Path::new("/c/git/checkouts/rayon-9e1a2b/1a2b3c4/rayon-core");
        let notes = vec![
            note(UNRECORDED, "1.13.0", &fork),
            note(RECORDED, "1.13.0", &registry),
            note(UNRECORDED, "1.13.0", checkout),
            note(RECORDED, "1.12.1", &registry),
            note(RECORDED, "1.13.0", &registry),
        ];
        let left = |source: &str| -> Vec<(String, bool)> {
            let text =
                format!("[[package]]\nname = \"rayon-core\"\nversion = \"1.13.0\"\n{source}\n");
            std::fs::write(&lock, text).unwrap();
            let kept = current(notes.clone(), &lock);
            kept.into_iter()
                .map(|n| (n.text, n.folder == checkout))
                .collect()
        };
        let recorded = (format!("{RECORDED} 1.13.0"), false);
        let unrecorded = format!("{UNRECORDED} 1.13.0");
        let index = "source = \"registry+https://example.invalid/index\"";
        assert_eq!(left(index), [recorded]);
        assert_eq!(left(""), [(unrecorded.clone(), false)]);
        let git = "source = \"git+https://example.invalid/r?branch=x#1a2b3c4d5e6f\"";
        assert_eq!(left(git), [(unrecorded, true)]);
        assert_eq!(left("source = \"git+https://example.invalid/r#ffff\""), []);
        // Without a lock file, no package is known to be gone.
        std::fs::remove_file(&lock).unwrap();
        assert_eq!(current(notes, &lock).len(), 3);
    }
}
