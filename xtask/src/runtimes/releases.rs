//! Runs the recorder's tests in roots of whole Debian releases, with the packages that their users
//! have. Compilers and runtimes of a newer release need a newer C library than an older machine
//! has, so they are installed in a root of their own, in which the tests that were built here are
//! run.

use std::path::Path;

use anyhow::Result;

use crate::debian_root::DebianRoot;
use crate::test::{Programs, Tally};
use crate::workspace::{output, root, target};

use super::{CoverageRow, PRELOAD};

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

/// Prints the versions of the installed packages, one after the other.
const VERSIONS: &str = r#"dpkg-query -W -f '${db:Status-Status} ${source:Package} ${source:Upstream-Version}\n' \
    'gcc-[0-9]*[0-9]' 'libomp5-[0-9]*' libtbb12 | sed -n 's/^installed //p' | sort -u | paste -s -d , -"#;

/// Runs the recorder's tests with these names in each release.
///
/// # Errors
/// There are no such tests, or they could not be started.
pub fn run(
    tally: &mut Tally,
    covered: &mut CoverageRow,
    programs: &Programs,
    names: &[&str],
) -> Result<()> {
    let tests = programs.it(PRELOAD)?;
    let tests = Path::new(tests.get_program());
    for (number, release) in RELEASES {
        let name = format!("tests of {PRELOAD} in a root of Debian {number}");
        match DebianRoot::prepare(release, &PACKAGES) {
            Ok(fresh) => in_root(tally, covered, &name, &fresh, tests, names)?,
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
    test: &Path,
    names: &[&str],
) -> Result<()> {
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
        package = workspace.join(PRELOAD).display(),
        test = test.display(),
        names = names.join(" "),
    );
    covered.count(tally, name, &mut fresh.shell(&line, &shared))
}
