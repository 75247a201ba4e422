//! `cargo xtask test aarch64`: the recorder on Linux on aarch64, cross-compiled and run by qemu. An
//! experiment, with results in docs/measured/install.md.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::dependencies::Outcome;
use crate::workspace::{cargo, output, root, succeed, target, workspan};

const TARGET: &str = "aarch64-unknown-linux-gnu";
const LINKER: &str = "aarch64-linux-gnu-gcc";
const QEMU: &str = "qemu-aarch64";
/// The system's libraries for that machine, from Debian's cross compiler.
const LIBRARIES: &str = "/usr/aarch64-linux-gnu";

/// Number of tasks of `examples/hand_made.rs`: its root, 50 jobs and two that are made by hand.
const TASKS: u64 = 53;

/// Records the API's example under qemu, and reads the recording here.
pub fn run() -> Outcome {
    if let Some(why) = lacking() {
        return Outcome::Skipped(why);
    }
    match record() {
        Ok(()) => Outcome::Fine,
        Err(error) => Outcome::Wrong(format!("{error:#}")),
    }
}

/// The component that is missing to cross-compile and run, if any.
fn lacking() -> Option<String> {
    let starts = |program: &str| {
        let asked = Command::new(program).arg("--version").output();
        asked.is_ok_and(|done| done.status.success())
    };
    let packages = [(LINKER, "gcc-aarch64-linux-gnu"), (QEMU, "qemu-user")];
    if let Some((_, package)) = packages.iter().find(|(program, _)| !starts(program)) {
        return Some(format!("no {package}: apt-get install {package}"));
    }
    let mut rustc = Command::new("rustc");
    rustc.args(["--print", "target-libdir", "--target", TARGET]);
    let folder = output(&mut rustc).ok()?;
    (!Path::new(folder.trim()).is_dir())
        .then(|| format!("no Rust for it: rustup target add {TARGET}"))
}

fn record() -> Result<()> {
    let folder = target().join("aarch64");
    fs::create_dir_all(&folder)?;
    let library = library()?;
    let program = program(&folder)?;
    let spool = folder.join("spool");
    let _ = fs::remove_dir_all(&spool);
    fs::create_dir(&spool)?;
    let bare = output(Command::new(QEMU).args(["-L", LIBRARIES]).arg(&program))?;
    let mut recorded = Command::new(QEMU);
    recorded.args(["-L", LIBRARIES]);
    recorded.args(["-E", &format!("LD_PRELOAD={}", library.display())]);
    recorded.args(["-E", &format!("WORKSPAN_SPOOL_DIR={}", spool.display())]);
    let recorded = output(recorded.arg(&program))?;
    // The last word of the program's output says whether it is recorded.
    if bare.replace("false", "true") != recorded || bare == recorded {
        bail!("bare it printed {bare:?}, recorded {recorded:?}");
    }
    let files: Vec<PathBuf> = fs::read_dir(&spool)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    let [file] = files.as_slice() else {
        bail!("{} recordings of one process", files.len());
    };
    succeed(cargo().args(["build", "--package", "workspan"]))?;
    let report = output(workspan("debug").args(["report", "--json"]).arg(file))?;
    let report: Value = serde_json::from_str(&report)?;
    let tasks = report["tasks"].as_u64();
    if tasks != Some(TASKS) {
        bail!("{tasks:?} tasks; the program has {TASKS}");
    }
    Ok(())
}

/// Builds the preloaded library.
fn library() -> Result<PathBuf> {
    let mut build = cargo();
    build.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", LINKER);
    build.args(["build", "--quiet", "--target", TARGET]);
    succeed(build.args(["--package", "workspan-preload"]))?;
    Ok(target().join(TARGET).join("debug/libworkspan_preload.so"))
}

/// Builds the API's example. cargo would also build everything that the API's tests need.
fn program(folder: &Path) -> Result<PathBuf> {
    let api = root().join("crates/api");
    let rlib = folder.join("libworkspan_api.rlib");
    let program = folder.join("hand_made");
    let rustc = || {
        let mut rustc = Command::new("rustc");
        rustc.args(["--edition", "2024", "--target", TARGET]);
        rustc
    };
    let mut library = rustc();
    library.args(["--crate-type", "rlib", "--crate-name", "workspan_api", "-o"]);
    succeed(library.arg(&rlib).arg(api.join("src/lib.rs"))).context("workspan-api")?;
    let mut example = rustc();
    example.arg("-C").arg(format!("linker={LINKER}"));
    example
        .arg("--extern")
        .arg(format!("workspan_api={}", rlib.display()));
    example.arg("-o").arg(&program);
    succeed(example.arg(api.join("examples/hand_made.rs")))?;
    Ok(program)
}
