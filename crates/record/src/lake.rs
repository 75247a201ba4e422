//! The lake of many runs. It is a separate program, `workspan-lake`, because it is large.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, bail};

use crate::say;

/// The program's name.
pub const PROGRAM: &str = "workspan-lake";

/// The variable with the lake for recordings without `--lake`.
pub const ROOT: &str = "WORKSPAN_LAKE";

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
    let own_folder = own.and_then(|own| own.parent().map(PathBuf::from));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = own_folder.into_iter().chain(std::env::split_paths(&path));
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
    /// The lake at `root`; runs get these tags, each as `KEY=VALUE`, and those of the Slurm job
    /// that this process is part of.
    ///
    /// # Errors
    /// The program is missing.
    pub fn new(root: OsString, mut tags: Vec<String>) -> anyhow::Result<Lake> {
        let of_job = job_tags(&tags, |name| std::env::var(name).ok());
        tags.extend(of_job);
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

/// Variables of Slurm and the tags that they make.
const SLURM_TAGS: [(&str, &str); 4] = [
    ("slurm-job", "SLURM_JOB_ID"),
    ("slurm-job-name", "SLURM_JOB_NAME"),
    ("slurm-array-job", "SLURM_ARRAY_JOB_ID"),
    ("slurm-array-index", "SLURM_ARRAY_TASK_ID"),
];

/// The tags of a Slurm job, which tell the runs of an array apart. The user's own have precedence.
fn job_tags(given: &[String], variable: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let mut tags = Vec::new();
    let mut tag = |key: &str, value: Option<String>| {
        let is_given = given
            .iter()
            .any(|tag| tag.split_once('=').is_some_and(|(given, _)| given == key));
        let value = value.filter(|value| !value.is_empty() && !is_given);
        tags.extend(value.map(|value| format!("{key}={value}")));
    };
    for (key, name) in SLURM_TAGS {
        tag(key, variable(name));
    }
    // The script of a job has a number too, which is 0.
    let tasks = variable("SLURM_STEP_NUM_TASKS").and_then(|tasks| tasks.parse::<u32>().ok());
    if tasks.is_some_and(|tasks| tasks > 1) {
        tag("slurm-rank", variable("SLURM_PROCID"));
    }
    tags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_an_array_are_told_apart() {
        let of = |set: &[(&str, &str)], given: &[&str]| {
            let given: Vec<String> = given.iter().map(|&tag| tag.to_owned()).collect();
            let set: Vec<(String, String)> = set
                .iter()
                .map(|&(name, value)| (name.to_owned(), value.to_owned()))
                .collect();
            job_tags(&given, |name| {
                let known = set.iter().find(|(known, _)| known == name)?;
                Some(known.1.clone())
            })
        };
        assert!(of(&[], &["commit=3f1c9a"]).is_empty());
        let array = [
            ("SLURM_JOB_ID", "27"),
            ("SLURM_JOB_NAME", "sweep.sh"),
            ("SLURM_ARRAY_JOB_ID", "26"),
            ("SLURM_ARRAY_TASK_ID", "3"),
            ("SLURM_PROCID", "0"),
        ];
        assert_eq!(
            of(&array, &["slurm-job-name=sweep"]),
            ["slurm-job=27", "slurm-array-job=26", "slurm-array-index=3"]
        );
        let step = [
            ("SLURM_JOB_ID", "28"),
            ("SLURM_STEP_NUM_TASKS", "4"),
            ("SLURM_PROCID", "2"),
        ];
        assert_eq!(of(&step, &[]), ["slurm-job=28", "slurm-rank=2"]);
    }
}
