//! Builds the library that `workspan record` preloads and embeds it, so that one installed file is
//! the whole tool.
//!
//! A nested cargo would need a workspace around the sources, which a packaged crate does not have.
//! The sources of trace, fold, recorder and preload need only `std`, so they are compiled with
//! plain rustc. Their folders come from the `links` metadata of the crates.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=RUSTC");
    if let Err(what) = build() {
        eprintln!("workspan's preloaded library was not built: {what}");
        std::process::exit(1);
    }
}

fn build() -> Result<(), String> {
    let out = PathBuf::from(variable("OUT_DIR")?);
    let trace = sources("TRACE")?;
    let fold = sources("FOLD")?;
    let recorder = sources("RECORDER")?;
    let preload = sources("PRELOAD")?;
    let trace_lib = out.join("libworkspan_trace.rlib");
    let fold_lib = out.join("libworkspan_fold.rlib");
    let recorder_lib = out.join("libworkspan_recorder.rlib");
    let library = out.join("libworkspan_preload.so");
    let extern_trace = format!("workspan_trace={}", trace_lib.display());
    let extern_fold = format!("workspan_fold={}", fold_lib.display());
    let extern_recorder = format!("workspan_recorder={}", recorder_lib.display());

    compile("workspan_trace", "rlib", &trace, &trace_lib, &[])?;
    compile("workspan_fold", "rlib", &fold, &fold_lib, &[&extern_trace])?;
    compile(
        "workspan_recorder",
        "rlib",
        &recorder,
        &recorder_lib,
        &[&extern_trace, &extern_fold],
    )?;
    compile(
        "workspan_preload",
        "cdylib",
        &preload,
        &library,
        &[&extern_trace, &extern_recorder],
    )?;

    let bytes = std::fs::read(&library).map_err(|e| format!("{}: {e}", library.display()))?;
    let mut hash = fingerprint(&bytes, 0xcbf2_9ce4_8422_2325);
    // In the workspace, a changed wrapper must not find what the previous one built. For a package,
    // the version is enough.
    let wrapper = Path::new(&variable("CARGO_MANIFEST_DIR")?).join("../adapters/rayon/src");
    if let Ok(entries) = std::fs::read_dir(&wrapper) {
        println!("cargo:rerun-if-changed={}", wrapper.display());
        let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        files.sort();
        for file in files {
            hash = fingerprint(&std::fs::read(&file).unwrap_or_default(), hash);
        }
    }
    hash = fingerprint(variable("CARGO_PKG_VERSION")?.as_bytes(), hash);
    println!(
        "cargo:rustc-env=WORKSPAN_PRELOAD_LIBRARY={}",
        library.display()
    );
    println!("cargo:rustc-env=WORKSPAN_EMBEDDED_HASH={hash:016x}");
    Ok(())
}

fn variable(name: &str) -> Result<String, String> {
    std::env::var(name).map_err(|e| format!("{name}: {e}"))
}

/// The source folder of a crate, as its build script announces it.
fn sources(name: &str) -> Result<PathBuf, String> {
    let folder = PathBuf::from(variable(&format!("DEP_WORKSPAN_{name}_SOURCE"))?);
    println!("cargo:rerun-if-changed={}", folder.join("src").display());
    Ok(folder)
}

fn compile(
    name: &str,
    kind: &str,
    folder: &Path,
    output: &Path,
    externs: &[&str],
) -> Result<(), String> {
    let mut rustc = Command::new(variable("RUSTC")?);
    rustc
        .args([
            "--crate-name",
            name,
            "--crate-type",
            kind,
            "--edition",
            "2024",
            "--cap-lints",
            "allow",
        ])
        .args([
            "-C",
            "opt-level=3",
            "-C",
            "codegen-units=1",
            "-C",
            "debuginfo=0",
            "-C",
            "overflow-checks=off",
        ])
        .args(["--target", &variable("TARGET")?])
        .arg("-o")
        .arg(output)
        .arg(folder.join("src/lib.rs"));
    if kind == "cdylib" {
        rustc.args(["-C", "strip=symbols", "-C", "lto=fat"]);
        if let Ok(linker) = std::env::var("RUSTC_LINKER") {
            rustc.arg("-C").arg(format!("linker={linker}"));
        }
    }
    if let Some(folder) = output.parent() {
        rustc
            .arg("-L")
            .arg(format!("dependency={}", folder.display()));
    }
    for external in externs {
        rustc.args(["--extern", external]);
    }
    // Flags that the outer build passes to rustc (for a wrapper's bookkeeping, say) are not meant
    // for these.
    rustc
        .env_remove("RUSTC_WRAPPER")
        .env_remove("RUSTC_WORKSPACE_WRAPPER");
    let done = rustc.output().map_err(|e| format!("{rustc:?}: {e}"))?;
    if done.status.success() {
        return Ok(());
    }
    Err(format!(
        "{rustc:?}: {}\n{}",
        done.status,
        String::from_utf8_lossy(&done.stderr)
    ))
}

/// FNV-1a, 64 bits: only tells versions of our own files apart.
fn fingerprint(bytes: &[u8], start: u64) -> u64 {
    bytes.iter().fold(start, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
