//! Decides which source files are the user's own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::code::is_recorder;

/// The user's workspace, from `cargo metadata`; empty if the program was not run through cargo.
#[derive(Debug, Clone, Default)]
pub struct Workspace {
    /// Its root; files are shown relative to it.
    pub root: Option<PathBuf>,
    /// Directories of its members' manifests.
    pub members: Vec<PathBuf>,
}

/// Answers by file, cached by directory.
pub(crate) struct Ownership<'a> {
    workspace: &'a Workspace,
    manifests: BTreeMap<PathBuf, Option<PathBuf>>,
}

impl<'a> Ownership<'a> {
    pub(crate) fn new(workspace: &'a Workspace) -> Self {
        Self {
            workspace,
            manifests: BTreeMap::new(),
        }
    }

    /// Whether `file` is the user's. With a known workspace, the nearest `Cargo.toml` above it must
    /// be a member's, so that sources vendored inside the workspace do not count. Without one, the
    /// compiler must have been given the file by a relative path (`relative`), as cargo does for
    /// workspace members, and it must not be in a package that cargo unpacked.
    pub(crate) fn owns(&mut self, file: &str, relative: bool) -> bool {
        let path = Path::new(file);
        let manifest = path.parent().and_then(|directory| self.manifest(directory));
        if self.workspace.members.is_empty() {
            return relative
                && !is_foreign(file)
                && manifest
                    .is_none_or(|directory| !directory.join(".cargo-checksum.json").exists());
        }
        match manifest {
            Some(directory) => self.workspace.members.contains(&directory),
            // The sources are gone, or have been moved.
            None => !is_foreign(file) && self.workspace.members.iter().any(|m| path.starts_with(m)),
        }
    }

    /// The nearest directory at or above `directory` with a `Cargo.toml`.
    fn manifest(&mut self, directory: &Path) -> Option<PathBuf> {
        if let Some(known) = self.manifests.get(directory) {
            return known.clone();
        }
        let found = directory
            .ancestors()
            .find(|d| d.join("Cargo.toml").is_file())
            .map(Path::to_owned);
        self.manifests.insert(directory.to_owned(), found.clone());
        found
    }
}

/// Whether a path belongs to a standard library, to a package that cargo downloaded, or to an
/// installed header.
pub(crate) fn is_foreign(file: &str) -> bool {
    file.starts_with("/rustc/")
        || ["/usr/include/", "/usr/local/include/", "/usr/lib/", "/opt/"]
            .iter()
            .any(|start| file.starts_with(start))
        || file.contains("/registry/src/")
        || file.contains("/git/checkouts/")
        || file.contains("/lib/rustlib/src/")
        || is_scheduling(file)
}

/// Whether a path belongs to a library's header that only passes the user's functions on to a task
/// runtime: the user calls it, and its callees are compiled into the user's code.
fn is_scheduling(file: &str) -> bool {
    // The header itself may be the compiled file; then it is shown, because there are no others.
    [
        "/parlay/internal/",
        "/parlay/parallel.h",
        "/parlay/scheduler.h",
    ]
    .iter()
    .any(|part| file.contains(part))
}

/// Whether a module is installed with the system: its sources are not the user's.
pub(crate) fn is_system_library(path: &Path) -> bool {
    ["/lib", "/lib64", "/usr/lib", "/usr/lib64"]
        .iter()
        .any(|folder| path.starts_with(folder))
}

/// Whether a module is a task runtime or a language's library, whose lines are of no interest.
pub(crate) fn is_runtime_library(path: &Path) -> bool {
    const LANGUAGES: [&str; 7] = [
        "ld-linux",
        "libc.",
        "libc-",
        "libpthread",
        "libstdc++",
        "libgcc_s",
        "libgfortran",
    ];
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    LANGUAGES.iter().any(|start| name.starts_with(start))
        || workspan_runtimes::is_module(path)
        || is_recorder(path)
}

/// Whether a path belongs to a task runtime or to a standard library, where no user's call is.
pub(crate) fn is_runtime(file: &str) -> bool {
    file.starts_with("/rustc/")
        || [
            "/include/c++/",
            "/include/oneapi/",
            "/oneapi/dpl/",
            "/pstl/",
        ]
        .iter()
        .any(|part| file.contains(part))
        || file.contains("/lib/rustlib/src/")
        || workspan_runtimes::is_source(file)
}

/// The form of a path that is shown: relative to the workspace; for packages in cargo's folders,
/// only name and version.
pub(crate) fn shown(file: &str, root: Option<&Path>) -> String {
    if let Some(inside) = root.and_then(|root| Path::new(file).strip_prefix(root).ok()) {
        return inside.to_string_lossy().into_owned();
    }
    if let Some((_, rest)) = file.split_once("/registry/src/")
        && let Some((_, package)) = rest.split_once('/')
    {
        return package.to_owned();
    }
    if let Some((_, rest)) = file.split_once("/git/checkouts/") {
        let mut parts = rest.splitn(3, '/');
        if let (Some(name), Some(_), Some(inside)) = (parts.next(), parts.next(), parts.next()) {
            let name = name.rsplit_once('-').map_or(name, |(name, _)| name);
            return format!("{name}/{inside}");
        }
    }
    if let Some(rest) = file.strip_prefix("/rustc/")
        && let Some((_, inside)) = rest.split_once('/')
    {
        return inside.to_owned();
    }
    file.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vendored_sources_inside_the_workspace_are_not_the_users() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().to_owned();
        for package in ["", "crates/a", "vendor/b"] {
            std::fs::create_dir_all(root.join(package).join("src")).unwrap();
            std::fs::write(root.join(package).join("Cargo.toml"), "").unwrap();
        }
        std::fs::write(root.join("vendor/b/.cargo-checksum.json"), "{}").unwrap();
        let file = |name: &str| root.join(name).to_string_lossy().into_owned();
        let known = Workspace {
            root: Some(root.clone()),
            members: vec![root.clone(), root.join("crates/a")],
        };
        for workspace in [known, Workspace::default()] {
            let mut ownership = Ownership::new(&workspace);
            assert!(ownership.owns(&file("src/main.rs"), true));
            assert!(ownership.owns(&file("crates/a/src/lib.rs"), true));
            assert!(!ownership.owns(&file("vendor/b/src/lib.rs"), true));
            assert!(!ownership.owns("/rustc/0123/library/core/src/ops.rs", false));
        }
    }

    #[test]
    fn paths_are_shown_short() {
        let root = Path::new("/w s");
        assert_eq!(shown("/w s/src/main.rs", Some(root)), "src/main.rs");
        assert_eq!(
            shown(
                "/home/u/.cargo/registry/src/index-0/rayon-1.12.0/src/a.rs",
                Some(root)
            ),
            "rayon-1.12.0/src/a.rs"
        );
        assert_eq!(
            shown("/home/u/.cargo/git/checkouts/x-y-01ab/77cd/src/a.rs", None),
            "x-y/src/a.rs"
        );
        assert_eq!(
            shown("/rustc/0123/library/core/src/a.rs", None),
            "library/core/src/a.rs"
        );
        assert!(is_runtime(
            "/v/registry/src/i/rayon-core-1.13.0/src/join/mod.rs"
        ));
        assert!(!is_runtime("/home/rayon/app/src/main.rs"));
        let header = "/w/include/parlay/internal/scheduler_plugins/tbb.h";
        assert!(is_foreign(header) && !is_runtime(header));
        assert!(!is_foreign("/w/examples/primes.h"));
    }
}
