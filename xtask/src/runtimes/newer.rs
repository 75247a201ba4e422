//! The recorder's tests in a root of a newer Debian: its compilers, OpenMP runtimes and oneTBB need
//! a newer C library than an older machine has, so they are installed in a root of their own, in
//! which the tests that were built here are run.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::debian_root::DebianRoot;
use crate::test::Tally;
use crate::workspace::{cargo, output, root, target};

/// Debian 13 has Clang 19, GCC 14 and oneTBB 2022.1.
const RELEASE: &str = "trixie";
const PACKAGES: [&str; 8] = [
    "gcc",
    "g++",
    "gfortran",
    "libc6-dev",
    "clang",
    "libomp-dev",
    "libtbb-dev",
    "mount",
];

const PACKAGE: &str = "workspan-preload";

/// Runs the recorder's tests of these names there.
///
/// # Errors
/// The tests do not build, or could not be started.
pub fn run(tally: &mut Tally, names: &[&str]) -> Result<()> {
    let name = format!("tests of {PACKAGE} in a root of Debian {RELEASE}");
    let fresh = match DebianRoot::prepare(RELEASE, &PACKAGES) {
        Ok(fresh) => fresh,
        Err(why) => {
            tally.skipped.push(format!("{name}: {why:#}"));
            return Ok(());
        }
    };
    let test = executable()?;
    // What tests compile there is for its libraries: not beside what they compile here.
    let line = format!(
        "mount -t tmpfs tmpfs {tmp} && cd {package} && gcc --version | head -n 1 && clang --version | head -n 1 && {test} {names}",
        tmp = target().join("tmp").display(),
        package = root().join("crates/adapters/preload").display(),
        test = test.display(),
        names = names.join(" "),
    );
    let (workspace, target) = (root(), target());
    let shared: [&Path; 2] = [&workspace, &target];
    tally.count(&name, &mut fresh.shell(&line, &shared), false)
}

/// The recorder's test program, built.
fn executable() -> Result<PathBuf> {
    let mut build = cargo();
    build.args(["test", "--package", PACKAGE, "--test", "it", "--no-run"]);
    let said = output(build.arg("--message-format=json"))?;
    let messages = said
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut built = messages.filter(|message| message["target"]["name"] == "it");
    let test = built.find_map(|message| message["executable"].as_str().map(PathBuf::from));
    test.context("cargo does not say where the recorder's tests are")
}
