//! The Rayon kernels: a package of their own, built bare and with recording compiled in, by the
//! user's cargo.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use serde_json::Value;

use super::folder::put;
use super::kernels::{Kernel, RUST_API, RUST_LIBRARY};

const MANIFEST: &str = "\
[package]
name = \"workspan-bench\"
version = \"0.0.0\"
edition = \"2024\"
publish = false

[lib]
name = \"workspan_bench\"

[dependencies]
rayon = \"1.11\"
workspan-api = { path = \"api\" }

[profile.release]
debug = \"line-tables-only\"

[workspace]
";

const API_MANIFEST: &str = "\
[package]
name = \"workspan-api\"
version = \"0.0.0\"
edition = \"2024\"
publish = false

[features]
off = []
";

/// The programs of the kernels, by name.
#[derive(Debug, Clone, Default)]
pub struct Programs {
    /// The programs as cargo builds them.
    pub bare: BTreeMap<String, PathBuf>,
    /// The programs with recording compiled in.
    pub recorded: BTreeMap<String, PathBuf>,
    /// Rayon's version.
    pub version: String,
}

/// Builds the kernels in `folder`.
///
/// # Errors
/// There is no cargo, or it can't build them.
pub fn build(kernels: &[Kernel], folder: &Path) -> anyhow::Result<Programs> {
    put(&folder.join("Cargo.toml"), MANIFEST)?;
    put(&folder.join("api/Cargo.toml"), API_MANIFEST)?;
    for (name, text) in RUST_LIBRARY.into_iter().chain(RUST_API) {
        put(&folder.join(name), text)?;
    }
    let mut arguments: Vec<String> = ["build", "--release", "--message-format", "json"]
        .map(String::from)
        .into();
    for kernel in kernels {
        for (name, text) in kernel.rust {
            put(&folder.join(name), text)?;
        }
        arguments.extend(["--bin".to_string(), kernel.name.to_string()]);
    }
    arguments.push("--target-dir".into());
    arguments.push(folder.join("target").to_string_lossy().into_owned());
    let mut cargo = Command::new("cargo");
    let bare = executables(cargo.args(&arguments), folder)?;
    let mut recorder = Command::new(std::env::current_exe()?);
    recorder
        .args(["record", "--no-report", "--", "cargo"])
        .args(&arguments);
    let recorded = executables(&mut recorder, folder)?;
    Ok(Programs {
        bare,
        recorded,
        version: version(folder),
    })
}

fn executables(command: &mut Command, folder: &Path) -> anyhow::Result<BTreeMap<String, PathBuf>> {
    command.current_dir(folder).stdin(Stdio::null());
    // These variables may be set for the user's own build, as in a shell inside `cargo run`, and
    // are not meant for this one.
    for name in [
        "CARGO_TARGET_DIR",
        "CARGO_BUILD_TARGET_DIR",
        "RUSTC_WRAPPER",
        "RUSTFLAGS",
        "CARGO_ENCODED_RUSTFLAGS",
    ] {
        command.env_remove(name);
    }
    let output = command
        .output()
        .context("cargo could not be started; install Rust")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let line = said
            .lines()
            .find(|l| l.starts_with("error"))
            .or(said.lines().last());
        bail!(
            "cargo could not build the kernels: {}",
            line.unwrap_or("it says nothing")
        );
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let messages = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let found = messages.filter_map(|message| {
        let path = PathBuf::from(message["executable"].as_str()?);
        Some((message["target"]["name"].as_str()?.to_string(), path))
    });
    Ok(found.collect())
}

/// The version of the `rayon` that cargo chose.
fn version(folder: &Path) -> String {
    let lock = std::fs::read_to_string(folder.join("Cargo.lock")).unwrap_or_default();
    let mut lines = lock.lines().skip_while(|l| *l != "name = \"rayon\"");
    let version = lines.nth(1).and_then(|l| l.strip_prefix("version = \""));
    version.map_or_else(String::new, |v| v.trim_end_matches('"').to_string())
}
