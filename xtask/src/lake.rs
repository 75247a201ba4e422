//! The lake in `lake/`, a workspace of its own: its format, lints and tests, which use other
//! engines and an object store from PyPI. Its query engine has hundreds of crates, so only `--long`
//! and `cargo xtask test lake` build it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::packages::may_install;
use crate::test::Tally;
use crate::workspace::{cargo, root, succeed, target, workspan};

const MANIFEST: [&str; 2] = ["--manifest-path", "lake/Cargo.toml"];

/// Packages with which the tests read the same files and store them.
const PACKAGES: [&str; 2] = ["duckdb", "moto[server]"];

/// Checks the formatting of the code, which needs no build.
///
/// # Errors
/// cargo could not be started.
pub fn format(tally: &mut Tally) -> Result<()> {
    let mut fmt = cargo();
    fmt.arg("fmt").args(MANIFEST).args(["--", "--check"]);
    tally.check("format of the lake", &mut fmt)
}

/// Runs all checks of the lake.
///
/// # Errors
/// cargo could not be started.
pub fn run(tally: &mut Tally) -> Result<()> {
    format(tally)?;
    let mut clippy = cargo();
    clippy
        .args(["clippy", "--quiet", "--all-targets"])
        .args(MANIFEST);
    tally.check("lints of the lake", clippy.args(["--", "-D", "warnings"]))?;
    let mut tests = cargo();
    tests.args(["test", "--no-fail-fast"]).args(MANIFEST);
    tests.env("WORKSPAN_LAKE_RUNS", recorded_runs()?);
    match python() {
        Some(path) => {
            tests.args(["--", "--include-ignored"]).env("PATH", path);
        }
        None => {
            let why = "needs duckdb and moto: python3 -m pip install duckdb 'moto[server]'";
            tally
                .skipped
                .push(format!("the lake in other engines and in S3: {why}"));
            tests.args(["--", "--include-ignored"]);
            tests.args(["--skip", "engines::", "--skip", "object_store::"]);
        }
    }
    tally.count("tests of the lake", &mut tests, true)
}

/// Number of runs recorded for the tests.
const RUNS: usize = 200;

/// A folder with recorded runs of a small program, on 1 to 4 threads and of several sizes. Existing
/// ones are kept.
fn recorded_runs() -> Result<PathBuf> {
    succeed(cargo().args(["build", "--quiet", "--package", "workspan"]))?;
    let folder = target().join("lake-runs");
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let program = folder.join("treesum");
    let source = root().join("examples/treesum.c");
    let mut compile = Command::new("gcc");
    compile
        .args(["-g", "-O2", "-fopenmp", "-o"])
        .arg(&program)
        .arg(source);
    succeed(&mut compile)?;
    for run in 0..RUNS {
        let trace = folder.join(format!("{run}.wspan"));
        if trace.exists() {
            continue;
        }
        let mut record = workspan("debug");
        record
            .args(["record", "--no-report", "-o"])
            .arg(&trace)
            .arg("--")
            .arg(&program);
        record.arg((10 + run % 4).to_string());
        record.env("OMP_NUM_THREADS", (1 + run % 4).to_string());
        let output = record.output().with_context(|| format!("{record:?}"))?;
        anyhow::ensure!(
            output.status.success() && trace.exists(),
            "{record:?}: {}",
            output.status
        );
    }
    Ok(folder)
}

/// A search path in which the first Python has the packages; it is made if that is allowed.
fn python() -> Option<OsString> {
    let folder = target().join("lake-python");
    let own = folder.join("bin/python3");
    let has = |python: PathBuf| {
        let output = Command::new(python)
            .args(["-c", "import duckdb, moto.server"])
            .output();
        output.is_ok_and(|output| output.status.success())
    };
    let path = std::env::var_os("PATH").unwrap_or_default();
    if has("python3".into()) {
        return Some(path);
    }
    if !has(own.clone()) {
        let done = |command: &mut Command| command.status().is_ok_and(|status| status.success());
        let made = may_install()
            && done(Command::new("python3").args(["-m", "venv"]).arg(&folder))
            && done(
                Command::new(&own)
                    .args(["-m", "pip", "install", "-q"])
                    .args(PACKAGES),
            );
        if !made || !has(own) {
            return None;
        }
    }
    let mut first = folder.join("bin").into_os_string();
    first.push(":");
    first.push(path);
    Some(first)
}
