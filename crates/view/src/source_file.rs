//! Reads source files on this machine, if that is safe.
//!
//! A trace may come from anywhere, and the names in it are untrusted data. A file is read only if
//! it is a regular file with the extension of a source file, inside the folder that the trace was
//! recorded in or one that the user named, and if its path has no `..`, hidden folders or symbolic
//! links.

mod names;

use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use workspan_dag::Dag;

pub(crate) use names::unite;

/// Maximum size of a source file, in bytes. Nobody writes larger ones.
const MAX_BYTES: u64 = 4 << 20;

/// File name extensions of source files.
const ENDINGS: [&str; 24] = [
    "rs", "c", "cc", "cpp", "cxx", "c++", "h", "hh", "hpp", "hxx", "inl", "ipp", "tcc", "cu", "f",
    "for", "f77", "f90", "f95", "f03", "f08", "ftn", "inc", "zig",
];

/// A source file's text.
#[derive(Debug)]
pub(crate) struct SourceFile {
    pub(crate) text: String,
    /// The file was changed after the run.
    pub(crate) changed: bool,
}

/// Reads `file`, which is a name in the trace. The error is a sentence with the reason.
pub(crate) fn read(dag: &Dag, allowed: &[PathBuf], file: &str) -> Result<SourceFile, String> {
    let named = Path::new(file);
    let extension = named.extension().and_then(|e| e.to_str()).unwrap_or("");
    let known = ENDINGS.iter().any(|e| e.eq_ignore_ascii_case(extension));
    let parts = named
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::RootDir));
    if !known || !parts {
        return Err("It is not opened: its path in the trace has `..` in it, or not the ending of a source file.".into());
    }
    let mut roots: Vec<PathBuf> = allowed.to_vec();
    roots.extend(recorded_in(dag).map(Path::to_owned));
    let mut found_elsewhere = false;
    for root in roots {
        let Ok(root) = root.canonicalize() else {
            continue;
        };
        let path = root.join(named);
        let Ok(real) = path.canonicalize() else {
            continue;
        };
        // The two differ if there is a symbolic link anywhere below the root.
        let inside = real.strip_prefix(&root).ok().filter(|_| real == path);
        let hidden = |part: Component| part.as_os_str().to_string_lossy().starts_with('.');
        if inside.is_none_or(|inside| inside.components().any(hidden)) {
            found_elsewhere = true;
            continue;
        }
        return open(dag, &real);
    }
    Err(if found_elsewhere {
        "It lies outside of the folder the run was recorded in, or behind a symbolic link or a hidden folder; --source-dir FOLDER allows another folder.".into()
    } else {
        "It is not at the path that the trace names; --source-dir FOLDER says where the sources are.".into()
    })
}

/// The folder to which the trace's file names are relative: the workspace, or else the program's
/// working directory. It is never the root of the file system.
fn recorded_in(dag: &Dag) -> Option<&Path> {
    let folder = dag.meta.run.source_folder.as_deref()?;
    (folder.is_absolute() && folder.components().count() > 2).then_some(folder)
}

fn open(dag: &Dag, path: &Path) -> Result<SourceFile, String> {
    let unreadable = |e: std::io::Error| format!("It can't be read: {e}.");
    let about = fs::symlink_metadata(path).map_err(unreadable)?;
    if !about.is_file() || about.len() > MAX_BYTES {
        return Err("It is not a file of a source file's size.".into());
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(MAX_BYTES)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    let written = about.modified().ok();
    let changed = match (written, recorded(dag)) {
        (Some(written), Some(recorded)) => written > recorded,
        _ => false,
    };
    Ok(SourceFile {
        text: String::from_utf8_lossy(&bytes).into_owned(),
        changed,
    })
}

/// The time of the recording, rounded up to the end of its second.
fn recorded(dag: &Dag) -> Option<SystemTime> {
    let seconds = dag.meta.run.recorded_at?;
    Some(UNIX_EPOCH + Duration::from_secs(seconds + 1))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    fn recorded_at(folder: &Path) -> Dag {
        let mut dag = Dag::default();
        dag.meta.run.recorded_at = Some(1_000_000_000);
        dag.meta.run.source_folder = Some(folder.to_owned());
        dag
    }

    /// Only regular files inside the folder with the extension of a source file can be read.
    #[test]
    fn files_outside_are_refused() {
        let all = tempfile::tempdir().unwrap();
        let folder = all.path().join("work/project");
        fs::create_dir_all(folder.join("src")).unwrap();
        fs::create_dir_all(folder.join(".secret")).unwrap();
        for name in ["src/a.rs", ".secret/k.rs", "notes", "../outside.rs"] {
            fs::write(folder.join(name), "fn main() {}\n").unwrap();
        }
        std::os::unix::fs::symlink(folder.join("../outside.rs"), folder.join("src/link.rs"))
            .unwrap();
        std::os::unix::fs::symlink(folder.join(".."), folder.join("up")).unwrap();
        let dag = recorded_at(&folder);
        let inside = folder.canonicalize().unwrap();
        let whole = inside.join("src/a.rs").display().to_string();
        for good in ["src/a.rs", &whole] {
            let read = read(&dag, &[], good).unwrap();
            assert_eq!(read.text, "fn main() {}\n");
            assert!(read.changed, "written after 2001");
        }
        let outside = inside.parent().unwrap().join("outside.rs");
        for bad in [
            "../outside.rs",
            "src/../../outside.rs",
            "src/link.rs",
            "up/outside.rs",
            ".secret/k.rs",
            "notes",
            "src",
            "/etc/passwd",
            &outside.display().to_string(),
        ] {
            assert!(read(&dag, &[], bad).is_err(), "{bad}");
        }
        // The user may allow a further folder, and only that one is allowed.
        let allowed = [inside.parent().unwrap().to_path_buf()];
        assert!(read(&dag, &allowed, "outside.rs").is_ok());
        assert!(read(&dag, &allowed, "project/src/link.rs").is_err());
    }

    /// A trace that claims to have been recorded in `/` gives access to no file.
    #[test]
    fn the_whole_file_system_is_no_folder_of_a_run() {
        for folder in ["/", "/etc", "relative"] {
            assert_eq!(recorded_in(&recorded_at(Path::new(folder))), None);
        }
    }
}
