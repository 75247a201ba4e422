//! Runs the recorder's tests in roots of whole Debian releases, with the packages that their users
//! have. Compilers and runtimes of a newer release need a newer C library than an older machine
//! has, so they are installed in a root of their own, in which the tests that were built here are
//! run.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::debian_root::DebianRoot;
use crate::test::Tally;
use crate::workspace::{cargo, output, root, target};

use super::CoverageRow;

/// Debian 12 has Clang 14, GCC 12 and oneTBB 2021.8, Debian 13 Clang 19, GCC 14 and oneTBB 2022.1.
const RELEASES: [(&str, &str); 2] = [("12", "bookworm"), ("13", "trixie")];
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

/// Prints the versions of the installed packages, one after the other.
const VERSIONS: &str = r#"dpkg-query -W -f '${db:Status-Status} ${source:Package} ${source:Upstream-Version}\n' \
    'gcc-[0-9]*[0-9]' 'libomp5-[0-9]*' libtbb12 | sed -n 's/^installed //p' | sort -u | paste -s -d , -"#;

/// Runs the recorder's tests with these names in each release.
///
/// # Errors
/// The tests do not build, or could not be started.
pub fn run(tally: &mut Tally, covered: &mut CoverageRow, names: &[&str]) -> Result<()> {
    for (number, release) in RELEASES {
        let name = format!("tests of {PACKAGE} in a root of Debian {number}");
        match DebianRoot::prepare(release, &PACKAGES) {
            Ok(fresh) => in_root(tally, covered, &name, &fresh, names)?,
            Err(why) => tally.skipped.push(format!("{name}: {why:#}")),
        }
    }
    Ok(())
}

fn in_root(
    tally: &mut Tally,
    covered: &mut CoverageRow,
    name: &str,
    fresh: &DebianRoot,
    names: &[&str],
) -> Result<()> {
    let test = executable()?;
    let (workspace, target) = (root(), target());
    let shared: [&Path; 2] = [&workspace, &target];
    // Tests of a newer machine do not start with an older C library.
    let starts = output(&mut fresh.shell(&format!("{} --list", test.display()), &shared));
    if starts.is_err() {
        let why = "the tests that were built here do not start there";
        tally.skipped.push(format!("{name}: {why}"));
        return Ok(());
    }
    let versions = output(&mut fresh.shell(VERSIONS, &[]))?;
    let name = format!("{name}: {}", versions.trim().replace(',', ", "));
    // Files that tests compile there belong to its libraries, so they are kept apart from those
    // compiled here.
    let line = format!(
        "mount -t tmpfs tmpfs {tmp} && cd {package} && {test} {names}",
        tmp = target.join("tmp").display(),
        package = workspace.join("crates/adapters/preload").display(),
        test = test.display(),
        names = names.join(" "),
    );
    covered.count(tally, name, &mut fresh.shell(&line, &shared))
}
/// Builds the recorder's test program.
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
