//! Ballista's scheduler and executor, which the tests start as processes.

use std::path::PathBuf;
use std::process::Command;

use crate::packages::may_install;
use crate::workspace::{cargo, target};

/// The version that fits the client in `lake/Cargo.toml`.
const VERSION: &str = "55.0.0";
const PROGRAMS: [&str; 2] = ["ballista-scheduler", "ballista-executor"];

/// The folder of the two programs: a folder of the search path, or one in the target folder, into
/// which they are built where that is allowed.
pub fn programs() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let root = target().join("ballista");
    let own = root.join("bin");
    let mut folders = std::env::split_paths(&path).chain([own.clone()]);
    let are_there = |folder: &PathBuf| PROGRAMS.iter().all(|name| has_version(&folder.join(name)));
    if let Some(folder) = folders.find(are_there) {
        return Some(folder);
    }
    if !may_install() {
        return None;
    }
    println!("== Ballista's scheduler and executor are built, once: a large build");
    let build = root.join("build");
    let mut install = cargo();
    install
        .args(["install", "--quiet", "--locked", "--root"])
        .arg(&root)
        .args(PROGRAMS.map(|name| format!("{name}@{VERSION}")))
        // Quick to build rather than quick to run: the tests' lakes are small.
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0")
        .env("CARGO_TARGET_DIR", &build);
    let done = install.status().is_ok_and(|status| status.success());
    let _ = std::fs::remove_dir_all(build);
    (done && are_there(&own)).then_some(own)
}

/// Whether it is there in that version.
fn has_version(program: &PathBuf) -> bool {
    let output = Command::new(program).arg("--version").output();
    output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains(VERSION))
}
