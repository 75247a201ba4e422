//! Small C programs, compiled here with what compilers the machine has.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Says what is left out, past the test harness, which keeps what passing tests print to itself.
pub fn skipped(test: &str, why: &str) {
    let line = format!("skipped: {test}: {why}\n");
    std::io::stdout().write_all(line.as_bytes()).unwrap();
}

/// GCC and the first Clang, those of them that compile OpenMP programs; the others are said to be skipped.
pub fn openmp_compilers(test: &str) -> Vec<String> {
    let clangs = ["", "-19", "-18", "-17", "-16", "-15", "-14"].map(|v| format!("clang{v}"));
    let sets = [vec!["gcc".to_owned()], clangs.to_vec()];
    let mut found = Vec::new();
    for names in sets {
        let folder = tempfile::tempdir().unwrap();
        match names.iter().find(|name| {
            try_compile(
                name,
                "library.c",
                folder.path(),
                &["-fopenmp", "-shared", "-fPIC"],
            )
            .is_some()
        }) {
            Some(name) => found.push(name.clone()),
            None => skipped(test, &format!("no {} with OpenMP", names[0])),
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
        // Libraries stand behind what needs them.
        .args(flags)
        .output()
        .ok()?;
    output.status.success().then_some(program)
}

/// The same, where it must work.
pub fn compile(compiler: &str, source: &str, folder: &Path, flags: &[&str]) -> PathBuf {
    try_compile(compiler, source, folder, flags)
        .unwrap_or_else(|| panic!("{compiler} does not compile {source}"))
}
