//! Tests the preloaded library built with the address sanitizer, in a program that is built with it
//! too.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::dependencies::Outcome;
use crate::miri::nightly;
use crate::workspace::{root, target};

/// Builds and runs both, and expects only the program's output.
pub fn run() -> Outcome {
    let folder = target().join("sanitized");
    let runtime = match runtime() {
        Some(runtime) => runtime,
        None => return Outcome::Skipped("gcc has no shared address sanitizer".into()),
    };
    let mut version = nightly();
    if !version
        .arg("--version")
        .output()
        .is_ok_and(|o| o.status.success())
    {
        return Outcome::Skipped("no nightly toolchain, which has rustc's sanitizers".into());
    }
    println!("== the preloaded library with the address sanitizer");
    match in_folder(&folder, &runtime) {
        Ok(()) => Outcome::Fine,
        Err(what) => Outcome::Wrong(what),
    }
}

/// GCC's shared runtime, which both must use.
fn runtime() -> Option<PathBuf> {
    let named = Command::new("gcc")
        .arg("-print-file-name=libasan.so")
        .output()
        .ok()?;
    let path = PathBuf::from(String::from_utf8(named.stdout).ok()?.trim());
    path.canonicalize().ok().filter(|path| path.is_file())
}

fn in_folder(folder: &Path, runtime: &Path) -> Result<(), String> {
    let built = nightly()
        .args(["build", "--quiet", "--package", "workspan-preload"])
        .args(["--target", "x86_64-unknown-linux-gnu", "--target-dir"])
        .arg(folder)
        .env("RUSTFLAGS", "-Zsanitizer=address")
        .status();
    if !built.is_ok_and(|status| status.success()) {
        return Err("the library does not build".into());
    }
    let library = folder.join("x86_64-unknown-linux-gnu/debug/libworkspan_preload.so");
    let program = folder.join("pool");
    let compiled = Command::new("gcc")
        .args(["-g", "-fsanitize=address", "-pthread"])
        .arg("-I")
        .arg(root().join("include"))
        .arg(root().join("examples/pool.c"))
        .arg("-o")
        .arg(&program)
        .status();
    if !compiled.is_ok_and(|status| status.success()) {
        return Err("examples/pool.c does not compile".into());
    }
    let spool = folder.join("spool");
    // Files of an earlier run would be mistaken for this run's.
    let _ = std::fs::remove_dir_all(&spool);
    std::fs::create_dir_all(&spool).map_err(|e| e.to_string())?;
    let mut preload = runtime.as_os_str().to_owned();
    preload.push(":");
    preload.push(&library);
    let run = |recorded: bool| {
        let mut command = Command::new(&program);
        if recorded {
            command
                .env("LD_PRELOAD", &preload)
                .env("WORKSPAN_SPOOL_DIR", &spool);
        }
        command.output().map_err(|e| e.to_string())
    };
    let (bare, recorded) = (run(false)?, run(true)?);
    let said = String::from_utf8_lossy(&recorded.stderr);
    if bare.status != recorded.status || bare.stdout != recorded.stdout || !said.is_empty() {
        return Err(format!(
            "bare {}, recorded {}\n{said}",
            bare.status, recorded.status
        ));
    }
    let written = std::fs::read_dir(&spool)
        .map_err(|e| e.to_string())?
        .count();
    if written == 1 {
        Ok(())
    } else {
        Err(format!("{written} files were recorded"))
    }
}
