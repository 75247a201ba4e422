//! The workspace, its cargo and its own tools.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};

/// The workspace's root.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// The folder of cargo's builds.
pub fn target() -> PathBuf {
    let given = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    root().join(given.unwrap_or_else(|| "target".into()))
}

/// The cargo that runs us, in the root.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// `cargo` with our own `cargo-workspan` of a profile (`debug`, `release`) on the path, like an
/// installed one. The code that goes into the recorded program is optimised in both profiles.
pub fn cargo_workspan(profile: &str) -> Result<Command> {
    let mut path = OsString::from(target().join(profile));
    if let Some(rest) = std::env::var_os("PATH") {
        path.push(":");
        path.push(rest);
    }
    let mut command = cargo();
    command.arg("workspan").env("PATH", path);
    Ok(command)
}

/// Our own `workspan` of a profile.
pub fn workspan(profile: &str) -> Command {
    let mut command = Command::new(target().join(profile).join("workspan"));
    command.current_dir(root());
    command
}

/// Builds the release of `workspan` and `cargo-workspan`. cargo prints each crate. If the page
/// can't be built, they have none, and `view` and `html` don't work.
pub fn build_release(page: bool) -> Result<()> {
    println!("== the release of workspan is built: about 4 minutes the first time on 2 idle cores");
    let mut build = cargo();
    if !page {
        build.env("WORKSPAN_PAGE", "none");
    }
    succeed(build.args(["build", "--release", "--package", "workspan"]))
}

/// Runs `command` with our own stdout and stderr; anything but success is an error.
pub fn succeed(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("{command:?}"))?;
    if !status.success() {
        bail!("{command:?}: {status}");
    }
    Ok(())
}

/// Runs `command` and returns its stdout; its stderr is ours.
pub fn output(command: &mut Command) -> Result<String> {
    let Output { status, stdout, .. } = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("{command:?}"))?;
    if !status.success() {
        bail!("{command:?}: {status}");
    }
    String::from_utf8(stdout).with_context(|| format!("{command:?} printed no UTF-8"))
}
