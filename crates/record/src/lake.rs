//! The lake of many runs. It is a separate program, `workspan-lake`, because it is large.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, bail};

use crate::say;

/// The program's name.
pub const PROGRAM: &str = "workspan-lake";

/// The command to install it.
pub const INSTALL: &str =
    "`cargo install workspan-lake` installs it (in a clone: `cargo install --path lake`)";

/// The lake to which recorded runs are added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lake {
    program: PathBuf,
    root: OsString,
    tags: Vec<String>,
}

/// The program's path: beside this one, otherwise in PATH.
///
/// # Errors
/// It is in neither place; the message says how to install it.
pub fn program() -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe().ok();
    let beside = own.and_then(|own| own.parent().map(PathBuf::from));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = beside.into_iter().chain(std::env::split_paths(&path));
    let found = folders.find_map(|folder| {
        let program = folder.join(PROGRAM);
        program.is_file().then_some(program)
    });
    match found {
        Some(program) => Ok(program),
        None => bail!("`{PROGRAM}` is neither beside `workspan` nor in PATH; {INSTALL}"),
    }
}

impl Lake {
    /// The lake at `root`; runs get these tags, each as `KEY=VALUE`.
    ///
    /// # Errors
    /// The program is missing.
    pub fn new(root: OsString, tags: Vec<String>) -> anyhow::Result<Lake> {
        Ok(Lake {
            program: program()?,
            root,
            tags,
        })
    }

    /// Adds the runs of these traces. Errors are only reported, because the traces exist anyway.
    pub(crate) fn add(&self, traces: &[PathBuf]) {
        let mut command = Command::new(&self.program);
        command.arg("add").arg("--into").arg(&self.root);
        for tag in &self.tags {
            command.args([OsStr::new("--tag"), OsStr::new(tag)]);
        }
        let done = command.arg("--").args(traces).status();
        let done = done.with_context(|| self.program.display().to_string());
        match done {
            Ok(status) if status.success() => {}
            Ok(_) => {
                say!(
                    "workspan: the run is not completely in the lake; add it later with `workspan lake add`"
                )
            }
            Err(error) => say!("workspan: not added to the lake: {error:#}"),
        }
    }
}
