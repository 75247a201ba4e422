//! Rayon's own tests as a check of the stand-in: every one must have the same outcome recorded and
//! bare.
//!
//! rayon's sources are copied unmodified from where cargo unpacked them. rayon-core's integration
//! tests become those of a package of ours that depends on rayon-core from the registry: as tests
//! of rayon-core's own folder they would make it a path package, which is not what a user's program
//! is linked with. Its unit tests test private items of the crate the stand-in replaces; they are
//! listed as skipped.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::outcomes::{Outcomes, outcomes};
use crate::workspace::{cargo, cargo_workspan, output, succeed, target, workspan};

/// The result of the comparison.
#[derive(Default)]
pub struct TestComparison {
    /// Tests with the same outcome bare and recorded.
    pub equal: usize,
    /// One line for each test with different outcomes.
    pub differences: Vec<String>,
    /// Tests that were not compared: name and reason.
    pub skipped: Vec<String>,
}

/// How many tests run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TestAmount {
    /// rayon's unit tests and rayon-core's integration tests, recorded; bare only if one of them
    /// does not pass: a test that passes has nothing to be compared.
    Quick,
    /// rayon's integration tests as well, each recorded and bare.
    All,
}

/// Runs rayon's library and integration tests and rayon-core's integration tests recorded and bare,
/// as far as `amount` says: the versions this workspace is locked to, with the `workspan` of
/// `profile`.
pub fn run(profile: &str, amount: TestAmount) -> Result<TestComparison> {
    let mut compared = TestComparison::default();
    let metadata = output(cargo().args(["metadata", "--format-version=1"]))?;
    let metadata: Value = serde_json::from_str(&metadata)?;
    let (rayon, core) = (
        package(&metadata, "rayon")?,
        package(&metadata, "rayon-core")?,
    );
    let folder = target().join("workspan/rayon-tests");
    lay_out(&folder, &rayon, &core)?;
    for test in unit_tests(&core.folder.join("src"))? {
        compared.skipped.push(format!(
            "rayon-core's {test}: a unit test of private items, which the stand-in replaces"
        ));
    }
    let mut fetch = cargo();
    if !succeeds(fetch.args(["fetch", "--quiet"]).current_dir(&folder)) {
        compared.skipped.push(
            "rayon's own tests: cargo could not fetch the packages they need (rand, scoped-tls)"
                .into(),
        );
        return Ok(compared);
    }
    let runs = folder.join("target/workspan/runs");
    if runs.exists() {
        fs::remove_dir_all(&runs).with_context(|| runs.display().to_string())?;
    }
    let mut recorder = cargo_workspan(profile)?;
    let chosen = chosen(amount, &core.folder.join("tests"))?;
    let recorded = outcomes("recorded", &folder, recorder.arg("--no-report"), &chosen)?;
    if amount == TestAmount::All || !recorded.success {
        let bare = outcomes("bare", &folder, &mut cargo(), &chosen)?.outcomes;
        if bare.is_empty() {
            bail!("rayon's own tests, run bare, gave no outcome");
        }
        compare(&bare, &recorded.outcomes, &mut compared);
    } else {
        compared.equal = recorded.outcomes.len();
        compared
            .skipped
            .push("rayon's own integration tests: cargo xtask test rayon".into());
    }
    let tasks = recorded_tasks(&runs, profile)?;
    println!("{tasks} tasks recorded");
    if tasks == 0 {
        compared
            .differences
            .push("rayon's own tests were run, but nothing was recorded".into());
    }
    fs::remove_dir_all(&runs).with_context(|| runs.display().to_string())?;
    Ok(compared)
}

/// The arguments that select the test executables, in cargo's words.
fn chosen(amount: TestAmount, core_tests: &Path) -> Result<Vec<String>> {
    let mut words = vec!["--lib".to_owned()];
    if amount == TestAmount::All {
        words.push("--tests".into());
        return Ok(words);
    }
    for entry in fs::read_dir(core_tests).with_context(|| core_tests.display().to_string())? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "rs") {
            let name = path.file_stem().unwrap_or_default();
            words.extend(["--test".to_owned(), name.to_string_lossy().into_owned()]);
        }
    }
    Ok(words)
}

struct Package {
    version: String,
    folder: PathBuf,
}

/// The package with that name in the graph; the newest if there are two.
fn package(metadata: &Value, name: &str) -> Result<Package> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let named = packages.filter(|p| p["name"] == name);
    let text = |p: &Value, key: &str| p[key].as_str().map(str::to_string);
    named
        .filter_map(|p| {
            Some(Package {
                version: text(p, "version")?,
                folder: Path::new(&text(p, "manifest_path")?).parent()?.into(),
            })
        })
        .next_back()
        .with_context(|| format!("cargo metadata names no package {name}"))
}

/// Makes a workspace of a copy of rayon and of rayon-core's integration tests; what was built
/// before stays.
fn lay_out(folder: &Path, rayon: &Package, core: &Package) -> Result<()> {
    for old in ["rayon", "rayon-core-tests"] {
        let _ = fs::remove_dir_all(folder.join(old));
    }
    let tests = folder.join("rayon-core-tests");
    fs::create_dir_all(tests.join("src"))?;
    copy(&rayon.folder, &folder.join("rayon"))?;
    copy(&core.folder.join("tests"), &tests.join("tests"))?;
    // The versions rayon was released with.
    let _ = fs::copy(rayon.folder.join("Cargo.lock"), folder.join("Cargo.lock"));
    fs::write(
        folder.join("Cargo.toml"),
        "[workspace]\nresolver = \"2\"\nmembers = [\"rayon\", \"rayon-core-tests\"]\n",
    )?;
    fs::write(tests.join("src/lib.rs"), "")?;
    let manifest = format!(
        "[package]\nname = \"rayon-core-tests\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n\
         [dependencies]\nrayon-core = \"={}\"\n# What its tests use beside it.\n\
         crossbeam-utils = \"0.8\"\nlibc = \"0.2\"\nrand = \"0.9\"\nrand_xorshift = \"0.4\"\nscoped-tls = \"1\"\n",
        core.version
    );
    fs::write(tests.join("Cargo.toml"), manifest)?;
    Ok(())
}

/// Copies a folder; files keep their times, so that cargo builds nothing twice.
fn copy(from: &Path, to: &Path) -> Result<()> {
    succeed(Command::new("cp").arg("-Rp").arg(from).arg(to))
}

/// The names of the unit tests under a source folder, by module.
fn unit_tests(source: &Path) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    let mut folders = vec![(source.to_path_buf(), Vec::<String>::new())];
    while let Some((folder, module)) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            let path = entry?.path();
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let mut inner = module.clone();
            if path.is_dir() {
                inner.push(name.into_owned());
                folders.push((path, inner));
                continue;
            }
            if !matches!(&*name, "mod" | "lib") {
                inner.push(name.into_owned());
            }
            for test in tests_in(&fs::read_to_string(&path)?) {
                let mut words = inner.clone();
                words.push(test);
                found.insert(words.join("::"));
            }
        }
    }
    Ok(found)
}

/// The functions that follow a `#[test]`.
fn tests_in(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut marked = false;
    for line in source.lines().map(str::trim) {
        if line == "#[test]" {
            marked = true;
        } else if let Some(rest) = line.strip_prefix("fn ").filter(|_| marked) {
            found.push(rest.split(['(', '<']).next().unwrap_or(rest).to_string());
            marked = false;
        }
    }
    found
}

fn succeeds(command: &mut Command) -> bool {
    command.status().is_ok_and(|status| status.success())
}

fn compare(bare: &Outcomes, recorded: &Outcomes, compared: &mut TestComparison) {
    let tests: BTreeSet<_> = bare.keys().chain(recorded.keys()).collect();
    let mut counts = BTreeMap::<&str, usize>::new();
    for test in tests {
        let outcome = |outcomes: &'_ Outcomes| outcomes.get(test).cloned();
        let (a, b) = (outcome(bare), outcome(recorded));
        if a == b {
            compared.equal += 1;
            if let Some(outcome) = bare.get(test) {
                *counts.entry(outcome).or_default() += 1;
            }
        } else {
            let word = |o: Option<String>| o.unwrap_or_else(|| "no outcome".into());
            compared.differences.push(format!(
                "rayon's own {} {}: bare {}, recorded {}",
                test.0,
                test.1,
                word(a),
                word(b)
            ));
        }
    }
    println!("equal bare and recorded: {counts:?}");
}

/// Tasks in all traces of a run. A trace that can't be read is an error.
fn recorded_tasks(runs: &Path, profile: &str) -> Result<u64> {
    let mut tasks = 0;
    let mut folders = vec![runs.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "wspan") {
                let info = output(workspan(profile).args(["info", "--json"]).arg(&path))?;
                let info: Value = serde_json::from_str(&info)?;
                tasks += info["tasks"].as_u64().unwrap_or(0);
            }
        }
    }
    Ok(tasks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_ends_otherwise_or_not_at_all_is_a_difference() {
        let both = [(("e", "same"), "ok"), (("e", "other"), "ok")];
        let outcomes = |list: &[((&str, &str), &str)]| -> Outcomes {
            let owned = |&((e, t), o): &((&str, &str), &str)| ((e.into(), t.into()), o.into());
            list.iter().map(owned).collect()
        };
        let mut compared = TestComparison::default();
        let recorded = [(("e", "same"), "ok"), (("e", "other"), "FAILED")];
        compare(&outcomes(&both), &outcomes(&recorded), &mut compared);
        assert_eq!(compared.equal, 1);
        assert_eq!(
            compared.differences,
            ["rayon's own e other: bare ok, recorded FAILED"]
        );
        compare(&outcomes(&both), &outcomes(&both[..1]), &mut compared);
        assert_eq!(
            compared.differences[1],
            "rayon's own e other: bare ok, recorded no outcome"
        );
    }

    #[test]
    fn unit_tests_are_those_with_the_attribute() {
        let source =
            "#[test]\n#[should_panic]\nfn one() {}\nfn not() {}\n    #[test]\n    fn two<T>() {}\n";
        assert_eq!(tests_in(source), ["one", "two"]);
    }
}
