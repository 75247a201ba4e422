//! A Python with other engines and with an object store.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::packages::may_install;
use crate::workspace::target;

/// What the tests read the same files with, and store them in.
const PACKAGES: [&str; 2] = ["duckdb", "moto[server]"];
/// Another engine, which needs Java too.
const SPARK: &str = "pyspark";

/// A Python that has the packages.
pub struct Python {
    /// A search path in which it is the first.
    pub path: OsString,
    /// Whether it has Spark, and Java is there.
    pub has_spark: bool,
}

/// It is made where that is allowed.
pub fn with_packages() -> Option<Python> {
    let folder = target().join("lake-python");
    let own = folder.join("bin/python3");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let first = |python: &Path| Python {
        path: path.clone(),
        has_spark: has_spark(python),
    };
    let system = Path::new("python3");
    if imports(system, "duckdb, moto.server") && (has_spark(system) || !may_install()) {
        return Some(first(system));
    }
    if !imports(&own, "duckdb, moto.server") {
        let made = may_install()
            && done(Command::new("python3").args(["-m", "venv"]).arg(&folder))
            && done(pip(&own).args(PACKAGES));
        if !made || !imports(&own, "duckdb, moto.server") {
            return None;
        }
    }
    if may_install() && !imports(&own, SPARK) {
        done(pip(&own).arg(SPARK));
    }
    let mut path = folder.join("bin").into_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    Some(Python {
        path,
        has_spark: has_spark(&own),
    })
}

fn pip(python: &PathBuf) -> Command {
    let mut command = Command::new(python);
    command.args(["-m", "pip", "install", "-q"]);
    command
}

fn done(command: &mut Command) -> bool {
    command.status().is_ok_and(|status| status.success())
}

fn imports(python: &Path, packages: &str) -> bool {
    let code = format!("import {packages}");
    let output = Command::new(python).args(["-c", &code]).output();
    output.is_ok_and(|output| output.status.success())
}

fn has_spark(python: &Path) -> bool {
    let java = Command::new("java").arg("-version").output();
    java.is_ok_and(|output| output.status.success()) && imports(python, SPARK)
}
