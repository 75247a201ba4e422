//! Intel's OpenMP runtime, the newest in the Python package `intel-openmp`. It is LLVM's, some
//! versions ahead of those in distributions.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use workspan_toolchains::{Family, Language, choose};

use crate::workspace::{output, target};

const PACKAGE: &str = "intel-openmp";

/// Unpacks it if that has not been done. Returns a folder of wrappers for the machine's Clang that
/// link programs with it, and its version.
///
/// # Errors
/// There is no Clang, or pip has no such package.
pub fn prepare() -> Result<(PathBuf, String)> {
    let folder = target().join("runtimes").join(PACKAGE);
    let (wrappers, complete) = (folder.join("bin"), folder.join("complete"));
    if !complete.is_file() {
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&wrappers)?;
        let version = unpack(&folder)?;
        let library = find(&folder, "libiomp5.so")?.context("no libiomp5.so in the package")?;
        // The name under which Clang links its own runtime.
        symlink(&library, folder.join("libomp.so"))?;
        let libraries = library.parent().unwrap_or(&folder);
        for (name, language) in [("clang", Language::C), ("clang++", Language::Cxx)] {
            let clang = choose(Family::Llvm, language).context("there is no Clang")?;
            let text = format!(
                "#!/bin/sh\nexec {} -Wno-unused-command-line-argument -L{} -Wl,-rpath,{} \"$@\"\n",
                clang.command,
                folder.display(),
                libraries.display(),
            );
            let file = wrappers.join(name);
            fs::write(&file, text)?;
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755))?;
        }
        fs::write(&complete, version)?;
    }
    Ok((wrappers, fs::read_to_string(complete)?))
}

/// Downloads and unpacks the package. Returns its version.
fn unpack(folder: &Path) -> Result<String> {
    let mut fetch = Command::new("python3");
    fetch.args(["-m", "pip", "download", "--no-deps", "--quiet", "--dest"]);
    output(fetch.arg(folder).arg(PACKAGE)).with_context(|| format!("pip has no {PACKAGE}"))?;
    let wheel = fs::read_dir(folder)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.extension().is_some_and(|ending| ending == "whl"))
        .context("pip fetched no wheel")?;
    let mut unpack = Command::new("python3");
    unpack.args(["-m", "zipfile", "-e"]).arg(&wheel);
    output(unpack.arg(folder))?;
    let name = wheel.file_stem().unwrap_or_default().to_string_lossy();
    Ok(name.split('-').nth(1).unwrap_or_default().to_owned())
}

/// The first file with this name below the folder.
fn find(folder: &Path, name: &str) -> Result<Option<PathBuf>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            if let Some(found) = find(&path, name)? {
                return Ok(Some(found));
            }
        } else if path.file_name().is_some_and(|file| file == name) {
            return Ok(Some(path));
        }
    }
    Ok(None)
}
