//! Adds hooks to the rayon-core that is compiled, for steals, failed attempts and sleep.
//!
//! rayon-core's public items do not tell which worker stole from which. So `rayon_core_real` is
//! compiled from a copy of the user's source, with calls inserted at known places. Each place is a
//! part of a line that must occur exactly once in its file. It is replaced within its line, so
//! every line keeps its number, and `--remap-path-prefix` gives the copy the original's path.
//! Panics, backtraces and debuggers show the user's own source. If any place is not as expected,
//! the source is compiled unchanged.

use crate::invocation::Invocation;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// A place where the copy differs from the original.
#[derive(Debug)]
struct Place {
    /// The file, relative to `src`.
    file: &'static str,
    /// The original text, which occurs once in the file.
    original: &'static str,
    /// The text that replaces it.
    hooked: &'static str,
}

/// All places, as in rayon-core 1.12.1 and 1.13.0.
const PLACES: [Place; 7] = [
    Place {
        file: "registry.rs",
        original: "Steal::Success(job) => Some(job),",
        hooked: "Steal::Success(job) => { crate::workspan_hooks::stolen(victim_index); Some(job) }",
    },
    Place {
        file: "registry.rs",
        original: "Steal::Empty => None,",
        hooked: "Steal::Empty => { crate::workspan_hooks::missed(victim_index); None }",
    },
    Place {
        file: "registry.rs",
        original: " retry = true;",
        hooked: " crate::workspan_hooks::missed(victim_index); retry = true;",
    },
    Place {
        file: "registry.rs",
        original: "self.wait_until_cold(latch);",
        hooked: "crate::workspan_hooks::waits(); self.wait_until_cold(latch); crate::workspan_hooks::waited();",
    },
    Place {
        file: "sleep/mod.rs",
        original: "self.counters.add_inactive_thread();",
        hooked: "self.counters.add_inactive_thread(); crate::workspan_hooks::idle();",
    },
    Place {
        file: "sleep/mod.rs",
        original: "*is_blocked = true;",
        hooked: "*is_blocked = true; crate::workspan_hooks::sleeps();",
    },
    Place {
        file: "sleep/mod.rs",
        original: "is_blocked = sleep_state.condvar.wait(is_blocked).unwrap();",
        hooked: "is_blocked = sleep_state.condvar.wait(is_blocked).unwrap(); if !*is_blocked { crate::workspan_hooks::wakes(); }",
    },
];

/// The module that the calls go to, and its file.
const MODULE: (&str, &str) = (
    "workspan_hooks.rs",
    include_str!("../hooks/workspan_hooks.rs"),
);

/// The module's declaration, which is appended to `lib.rs`.
const DECLARATION: &str = "\n#[doc(hidden)]\npub mod workspan_hooks;\n";

/// The texts that are inserted into the copy. Build results depend on them.
pub(crate) fn texts() -> impl Iterator<Item = (&'static str, &'static str)> {
    let places = PLACES.iter().map(|place| (place.original, place.hooked));
    places.chain([MODULE, ("lib.rs", DECLARATION)])
}

/// A copy of the source with hooks. Dropping it removes the folder.
#[derive(Debug)]
pub(crate) struct Copy {
    folder: PathBuf,
    remap: OsString,
}

impl Copy {
    /// Copies the source that `call` compiles into the folder `to`, and puts the hooks in.
    ///
    /// # Errors
    /// The reason why the copy could not be made, as the end of a sentence, or the file system's
    /// error.
    pub(crate) fn make(call: &Invocation, to: PathBuf) -> Result<Copy, String> {
        let source = call
            .source()
            .and_then(Path::parent)
            .unwrap_or(Path::new(""));
        let shown = shown_as(call, source);
        if shown.as_encoded_bytes().contains(&b'=') {
            return Err("its path has a `=`, which rustc's --remap-path-prefix cannot take".into());
        }
        let mut remap = OsString::from("--remap-path-prefix=");
        remap.push(&to);
        remap.push("=");
        remap.push(shown);
        let copy = Copy { folder: to, remap };
        let failed = |error: io::Error| format!("its source could not be copied: {error}");
        // A killed build may have left a copy.
        let _ = std::fs::remove_dir_all(&copy.folder);
        copy_folder(source, &copy.folder).map_err(failed)?;
        for file in ["registry.rs", "sleep/mod.rs"] {
            let path = copy.folder.join(file);
            let text = std::fs::read_to_string(&path).map_err(failed)?;
            std::fs::write(&path, with_hooks(file, text)?).map_err(failed)?;
        }
        let root = copy.folder.join("lib.rs");
        let text = std::fs::read_to_string(&root).map_err(failed)?;
        std::fs::write(&root, text + DECLARATION).map_err(failed)?;
        std::fs::write(copy.folder.join(MODULE.0), MODULE.1).map_err(failed)?;
        Ok(copy)
    }

    /// The call that compiles the copy instead.
    pub(crate) fn instead(&self, call: &Invocation) -> Invocation {
        call.clone()
            .with_source(&self.folder.join("lib.rs"))
            .with([self.remap.clone()])
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Puts the hooks of a file into its text.
fn with_hooks(file: &str, mut text: String) -> Result<String, String> {
    for place in PLACES.iter().filter(|place| place.file == file) {
        let found = text.matches(place.original).count();
        if found != 1 {
            let original = place.original.trim();
            return Err(format!(
                "src/{file} has `{original}` {found} times, not once"
            ));
        }
        text = text.replacen(place.original, place.hooked, 1);
    }
    Ok(text)
}

/// The path that the program shows for files of this folder. The user's own remapping applies, the
/// last one first.
fn shown_as(call: &Invocation, folder: &Path) -> OsString {
    let pairs: Vec<_> = call
        .values("--remap-path-prefix")
        .filter_map(|pair| pair.rsplit_once('='))
        .collect();
    let remapped = pairs.iter().rev().find_map(|(from, to)| {
        let rest = folder.strip_prefix(from).ok()?;
        Some(Path::new(to).join(rest).into_os_string())
    });
    remapped.unwrap_or_else(|| folder.as_os_str().to_owned())
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy_folder(&from, &to)?;
        } else {
            // Not `fs::copy`: the copy of a read-only original could not be changed.
            std::fs::write(to, std::fs::read(from)?)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines around every place, from rayon-core 1.13.0.
    const REGISTRY: &str = "
                Steal::Success(job) => return Some(job),
                Steal::Empty => return None,
            let mut retry = false;
                        Steal::Success(job) => Some(job),
                        Steal::Empty => None,
                            retry = true;
            self.wait_until_cold(latch);
";
    const SLEEP: &str = "
        self.counters.add_inactive_thread();
            *is_blocked = true;
                is_blocked = sleep_state.condvar.wait(is_blocked).unwrap();
            *is_blocked = false;
";

    /// A source folder, and the call that compiles it.
    fn source(registry: &str, more: &[&str]) -> (tempfile::TempDir, Invocation) {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("with space/src");
        std::fs::create_dir_all(source.join("sleep")).unwrap();
        std::fs::write(source.join("lib.rs"), "mod registry;\n").unwrap();
        std::fs::write(source.join("registry.rs"), registry).unwrap();
        std::fs::write(source.join("sleep/mod.rs"), SLEEP).unwrap();
        let mut words = vec![
            OsString::from("--crate-name=rayon_core"),
            source.join("lib.rs").into(),
        ];
        words.extend(more.iter().map(OsString::from));
        (folder, Invocation::new(words))
    }

    #[test]
    fn lines_keep_their_numbers_and_the_path_is_the_originals() {
        let (folder, call) = source(REGISTRY, &[]);
        let original = folder.path().join("with space/src");
        let to = folder.path().join("copy");
        let copy = Copy::make(&call, to.clone()).unwrap();
        let hooked = std::fs::read_to_string(to.join("registry.rs")).unwrap();
        assert_eq!(hooked.matches("crate::workspan_hooks::").count(), 5);
        assert_eq!(hooked.lines().count(), REGISTRY.lines().count());
        let hooked = std::fs::read_to_string(to.join("sleep/mod.rs")).unwrap();
        assert_eq!(hooked.matches("crate::workspan_hooks::").count(), 3);
        assert_eq!(hooked.lines().count(), SLEEP.lines().count());
        let root = std::fs::read_to_string(to.join("lib.rs")).unwrap();
        assert!(root.starts_with("mod registry;\n"), "{root}");

        let call = copy.instead(&call);
        assert_eq!(call.source(), Some(&*to.join("lib.rs")));
        let remap = call.values("--remap-path-prefix").last();
        let expected = format!("{}={}", to.display(), original.display());
        assert_eq!(remap, Some(&*expected));
        drop(copy);
        assert!(!to.exists());
    }

    #[test]
    fn a_source_that_differs_is_left_as_it_is() {
        for (registry, what) in [
            (
                REGISTRY.replace("Some(job),", "Some(self.count(job)),"),
                "`Steal::Success(job) => Some(job),` 0 times",
            ),
            (REGISTRY.repeat(2), "2 times"),
        ] {
            let (folder, call) = source(&registry, &[]);
            let to = folder.path().join("copy");
            let why = Copy::make(&call, to.clone()).unwrap_err();
            assert!(
                why.contains(what) && why.contains("src/registry.rs"),
                "{why}"
            );
            assert!(!to.exists());
        }
    }

    #[test]
    fn the_users_own_remapping_holds_for_the_copy() {
        let remaps = [
            "--remap-path-prefix=/elsewhere=/e",
            "--remap-path-prefix",
            "/=/root/",
        ];
        let (folder, call) = source(REGISTRY, &remaps);
        let original = folder.path().join("with space/src");
        let shown = shown_as(&call, &original);
        let expected = Path::new("/root").join(original.strip_prefix("/").unwrap());
        assert_eq!(PathBuf::from(shown), expected);
        let call = call.with([OsString::from("--remap-path-prefix=/tmp=/odd=")]);
        assert_eq!(shown_as(&call, Path::new("/nowhere")), "/root/nowhere");
    }
}
