//! The lake in `lake/`, a workspace of its own: its format, lints and tests, with other engines and
//! an object store from PyPI and a cluster of Ballista. Its query engine has hundreds of crates, so
//! only `--long` and `cargo xtask test lake` build it.

mod ballista;
mod python;
mod runs;

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::test::Tally;
use crate::workspace::{cargo, root};

const MANIFEST: [&str; 2] = ["--manifest-path", "lake/Cargo.toml"];
/// The client of a cluster is tested too.
const FEATURES: [&str; 2] = ["--features", "cluster"];

/// A cargo whose builds of the lake are those that the same command makes by hand. A dependency's
/// build script runs again, and with it most of the others, where variables differ that cargo gives
/// to what it runs.
fn lake_cargo() -> Command {
    let mut command = cargo();
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(name);
        }
    }
    command
}

/// Where cargo builds the lake to.
fn lake_target() -> PathBuf {
    let given = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    root().join(given.unwrap_or_else(|| "lake/target".into()))
}

/// Whether the code is formatted, which needs no build.
///
/// # Errors
/// cargo could not be started.
pub fn format(tally: &mut Tally) -> Result<()> {
    let mut fmt = cargo();
    fmt.arg("fmt").args(MANIFEST).args(["--", "--check"]);
    tally.check("format of the lake", &mut fmt)
}

/// All of it. What a missing package or program leaves out is skipped, by name.
///
/// # Errors
/// cargo could not be started, or the programs that are recorded for the tests fail.
pub fn run(tally: &mut Tally) -> Result<()> {
    format(tally)?;
    let mut clippy = lake_cargo();
    clippy.args(["clippy", "--quiet", "--all-targets"]);
    clippy.args(MANIFEST).args(FEATURES);
    tally.check("lints of the lake", clippy.args(["--", "-D", "warnings"]))?;
    let mut tests = lake_cargo();
    tests.args(["test", "--no-fail-fast"]);
    tests.args(MANIFEST).args(FEATURES);
    tests.env("WORKSPAN_LAKE_RUNS", runs::recorded()?);
    let mut left_out = Vec::new();
    let mut lacks = |parts: &[&'static str], what: &str, how: &str| {
        left_out.extend_from_slice(parts);
        tally.skipped.push(format!("the lake {what}: needs {how}"));
    };
    match python::with_packages() {
        Some(python) => {
            tests.env("PATH", python.path);
            if !python.has_spark {
                let how = "pyspark and Java: python3 -m pip install pyspark, apt-get install default-jre-headless";
                lacks(&["spark"], "in Spark", how);
            }
        }
        None => lacks(
            &["engines::", "object_store::"],
            "in other engines and in S3",
            "duckdb and moto: python3 -m pip install duckdb 'moto[server]'",
        ),
    }
    match ballista::programs() {
        Some(folder) => {
            tests.env("WORKSPAN_BALLISTA", folder);
        }
        None => lacks(
            &["cluster::started"],
            "in a cluster",
            "Ballista: cargo install ballista-scheduler ballista-executor --version 55.0.0 --locked",
        ),
    }
    tests.args(["--", "--include-ignored"]);
    for part in left_out {
        tests.args(["--skip", part]);
    }
    tally.count("tests of the lake", &mut tests, true)
}
