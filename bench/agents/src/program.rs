//! Builds, runs and records a program.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

use serde_json::Value;

use super::fault::{Fault, Language, folder};

/// Number of workers of every recording, which a machine of any size has.
const WORKERS: &str = "2";

/// A place to build and record in.
#[derive(Debug)]
pub struct WorkFolder {
    folder: PathBuf,
    workspan: OsString,
}

/// A recorded run.
#[derive(Debug)]
pub struct RecordedRun {
    /// The program's output.
    pub stdout: Vec<u8>,
    /// `workspan report --json`.
    pub report: Value,
}

impl WorkFolder {
    /// A workshop in `folder`, which keeps the builds; `workspan` is the recorder.
    ///
    /// # Errors
    /// The folder can't be made.
    pub fn new(folder: &Path, workspan: OsString) -> Result<WorkFolder, String> {
        fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        Ok(WorkFolder {
            folder: folder.to_owned(),
            workspan,
        })
    }

    /// Records the program of a fault with this source.
    ///
    /// # Errors
    /// The program can't be built or recorded, or fails.
    pub fn record(&self, fault: &Fault, source: &Path) -> Result<RecordedRun, String> {
        let trace = self.folder.join(format!("{}.wspan", fault.name));
        let _ = fs::remove_file(&trace);
        let output = self.record_into(fault, source, &trace)?;
        let mut report = self.command(&self.workspan);
        let report = checked(report.args(["report", "--json"]).arg(&trace))?;
        let report = serde_json::from_slice(&report.stdout);
        let _ = fs::remove_file(&trace);
        Ok(RecordedRun {
            stdout: output.stdout,
            report: report.map_err(|e| format!("{}: {e}", trace.display()))?,
        })
    }

    /// Records the program into the given trace.
    ///
    /// # Errors
    /// See [`WorkFolder::record`].
    pub fn record_into(
        &self,
        fault: &Fault,
        source: &Path,
        trace: &Path,
    ) -> Result<Output, String> {
        let mut record = self.command(&self.workspan);
        record
            .args(["record", "--no-report", "-o"])
            .arg(trace)
            .arg("--");
        match fault.language {
            Language::Rust => {
                let package = self.package(fault, source)?;
                record
                    .args(["cargo", "run", "--quiet", "--release", "--bin"])
                    .arg(&fault.name)
                    .current_dir(package);
            }
            Language::Cpp => {
                let program = self.folder.join(&fault.name);
                let text = self.folder.join(fault.file());
                copy(source, &text)?;
                let mut compiler = self.command("g++");
                compiler.args(["-std=c++17", "-g", "-O2", "-fopenmp", "-o"]);
                checked(compiler.arg(&program).arg(&text))?;
                record.arg(program);
            }
        }
        checked(&mut record)
    }

    /// Makes the Rust package with that source.
    fn package(&self, fault: &Fault, source: &Path) -> Result<PathBuf, String> {
        let (from, to) = (folder().join("rust"), self.folder.join("package"));
        for file in ["Cargo.toml", "Cargo.lock", "src/lib.rs"] {
            copy(&from.join(file), &to.join(file))?;
        }
        // Only the recorded program is built.
        let bins = to.join("src/bin");
        if bins.is_dir() {
            for old in fs::read_dir(&bins).map_err(|e| e.to_string())?.flatten() {
                if old.file_name() != *fault.file() {
                    let _ = fs::remove_file(old.path());
                }
            }
        }
        copy(source, &bins.join(fault.file()))?;
        Ok(to)
    }

    /// A command without the variables that cargo set for this process.
    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        for (name, _) in env::vars_os() {
            let text = name.to_string_lossy();
            let set = text.starts_with("CARGO") && text != "CARGO_HOME";
            if set || text.starts_with("RUSTC") || text == "RUSTFLAGS" {
                command.env_remove(&name);
            }
        }
        command
            .env("RAYON_NUM_THREADS", WORKERS)
            .env("OMP_NUM_THREADS", WORKERS);
        command
    }
}

/// Copies files that differ, so that unchanged ones keep their time.
fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let named = |e: std::io::Error| format!("{}: {e}", from.display());
    let text = fs::read(from).map_err(named)?;
    if fs::read(to).is_ok_and(|old| old == text) {
        return Ok(());
    }
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(named)?;
    }
    fs::write(to, text).map_err(named)
}

fn checked(command: &mut Command) -> Result<Output, String> {
    let output = command
        .output()
        .map_err(|e| format!("{}: {e}", command.get_program().display()))?;
    if output.status.success() {
        return Ok(output);
    }
    Err(format!(
        "{command:?}: {}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    ))
}
