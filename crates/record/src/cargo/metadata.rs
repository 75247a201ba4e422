//! The user's workspace, as reported by cargo.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde::Deserialize;

use crate::cargo::command_line::CargoLine;

/// The output of `cargo metadata --no-deps`.
#[derive(Debug, Clone, Deserialize)]
pub struct Metadata {
    /// The workspace's root.
    pub workspace_root: PathBuf,
    /// The folder of a build without workspan, before `--target-dir` is applied.
    pub target_directory: PathBuf,
    packages: Vec<Package>,
}

#[derive(Debug, Clone, Deserialize)]
struct Package {
    manifest_path: PathBuf,
}

impl Metadata {
    /// Runs cargo with the user's flags that select the workspace. `Err` holds cargo's exit code;
    /// its own messages are on stderr.
    ///
    /// # Errors
    /// cargo cannot be started, or its output cannot be read.
    pub fn ask(cargo: &OsString, line: &CargoLine) -> anyhow::Result<Result<Self, u8>> {
        let mut command = Command::new(cargo);
        command.args(&line.toolchain);
        for option in ["-C", "-Z"] {
            for value in line.values(option) {
                command.arg(option).arg(value);
            }
        }
        command.args(["metadata", "--no-deps", "--format-version", "1"]);
        for option in ["--config", "--manifest-path", "--color"] {
            for value in line.values(option) {
                command.arg(option).arg(value);
            }
        }
        for flag in ["--locked", "--offline", "--frozen"] {
            if line.has(flag) {
                command.arg(flag);
            }
        }
        let output = command.stderr(Stdio::inherit()).output().map_err(|e| {
            anyhow::anyhow!(
                "{}: {e}; is cargo installed and in PATH?",
                cargo.to_string_lossy()
            )
        })?;
        if !output.status.success() {
            return Ok(Err(output
                .status
                .code()
                .and_then(|code| u8::try_from(code).ok())
                .unwrap_or(101)));
        }
        serde_json::from_slice(&output.stdout).map(Ok).map_err(|e| {
            anyhow::anyhow!("cargo metadata gave an answer that workspan can't read: {e}")
        })
    }

    /// Directories of the members' manifests.
    pub fn members(&self) -> Vec<PathBuf> {
        self.packages
            .iter()
            .filter_map(|p| p.manifest_path.parent())
            .map(PathBuf::from)
            .collect()
    }
}
