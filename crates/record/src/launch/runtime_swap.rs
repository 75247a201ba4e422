//! `--swap-runtime`: runs a program that GCC compiled on LLVM's OpenMP runtime instead of its own.
//!
//! libomp has GCC's entry points too, so preloading it is enough. Placed before our own library, it
//! handles all of them except a few that it lacks, and reports to us through its tools interface.

use std::path::{Path, PathBuf};

use workspan_runtimes::{Id, Runtime};
use workspan_symbols::linked;

use crate::embedded;

/// The warning for the trace and the user.
pub const WARNING: &str = "LLVM's libomp replaced libgomp (--swap-runtime), so code that GCC compiled was scheduled by another runtime. \
Detached tasks, and C++ tasks with if(0) and copied objects, are known to crash there or to give wrong results.";

const NAMES: [&str; 2] = ["libomp.so.5", "libomp.so"];

/// The library to preload for the program at `program`, by a path that `LD_PRELOAD` accepts.
///
/// # Errors
/// The program needs no swap, or there is no libomp. The message says what to do.
pub fn library(program: &Path) -> anyhow::Result<PathBuf> {
    let own = linked(program, &[]).libraries;
    let own = own
        .iter()
        .find_map(|name| Some((name, Runtime::from_library(Path::new(name))?)));
    if let Some((name, runtime)) = own
        && runtime.id == Id::Libomp
    {
        anyhow::bail!(
            "{}: is linked with {name}, so it runs on LLVM's OpenMP already; leave --swap-runtime out",
            program.display()
        );
    }
    let found = folders()
        .into_iter()
        .flat_map(|folder| NAMES.map(|name| folder.join(name)))
        .find(|path| path.is_file());
    match found {
        Some(path) => embedded::undivided(&path),
        None => anyhow::bail!(
            "--swap-runtime: no {} in LD_LIBRARY_PATH or the system's folders; install it (Debian: libomp5-19, or libomp5-14)",
            NAMES[0]
        ),
    }
}

/// The folders to search: the dynamic linker's, then LLVM's own, newest first.
fn folders() -> Vec<PathBuf> {
    let given = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&given)
        .filter(|path| path.is_absolute())
        .collect();
    let triple = format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH);
    folders.extend(["/usr/local/lib", &triple, "/usr/lib64", "/usr/lib"].map(PathBuf::from));
    let mut versions: Vec<(u32, PathBuf)> = std::fs::read_dir("/usr/lib")
        .map(|entries| {
            entries
                .flatten()
                .filter_map(|entry| {
                    let name = entry.file_name();
                    let version = name.to_str()?.strip_prefix("llvm-")?.parse().ok()?;
                    Some((version, entry.path().join("lib")))
                })
                .collect()
        })
        .unwrap_or_default();
    versions.sort();
    folders.extend(versions.into_iter().rev().map(|(_, path)| path));
    folders
}
