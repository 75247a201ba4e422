//! Small C programs, compiled here with what compilers the machine has.

use std::path::{Path, PathBuf};
use std::process::Command;

pub use workspan_toolchains::skipped;
use workspan_toolchains::{Family, Language, openmp};

/// GCC and Clang, those of them that compile OpenMP programs; the others are said to be skipped.
pub fn openmp_compilers(test: &str) -> Vec<String> {
    let mut found = Vec::new();
    for family in [Family::Gnu, Family::Llvm] {
        match openmp(family, Language::C) {
            Ok(compiler) => found.push(compiler.command.clone()),
            Err(why) => skipped(test, &why),
        }
    }
    found
}

/// Compiles `tests/fixtures/native/<source>` into the folder; `None` when that can't be done.
pub fn try_compile(compiler: &str, source: &str, folder: &Path, flags: &[&str]) -> Option<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/native");
    let program = folder.join(source.split('.').next().unwrap_or(source));
    let output = Command::new(compiler)
        .args(["-g", "-O1", "-Wall", "-Wextra"])
        .arg(here.join(source))
        .arg("-o")
        .arg(&program)
        // Libraries come after the files that need them.
        .args(flags)
        .output()
        .ok()?;
    output.status.success().then_some(program)
}

/// Like `try_compile`, but it must succeed.
pub fn compile(compiler: &str, source: &str, folder: &Path, flags: &[&str]) -> PathBuf {
    try_compile(compiler, source, folder, flags)
        .unwrap_or_else(|| panic!("{compiler} does not compile {source}"))
}
