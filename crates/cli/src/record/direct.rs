//! `workspan record -- PROGRAM`: a program that is built already, run with the library preloaded.

use std::ffi::OsString;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::Context;
use workspan_symbols::Workspace;
use workspan_trace::entry::Note;

use super::cargo_line::CargoLine;
use super::metadata::Metadata;
use super::outcome::Outcome;
use super::watch::Watch;
use super::{child, environment, facts, optimisation, program};
use crate::embedded::{self, RUNNER_ROLE};

/// Runs `command`, records it, and reports.
///
/// # Errors
/// The program can't be recorded (said before it starts), or the trace can't be written.
pub fn record(
    command: &[OsString],
    output: Option<&Path>,
    report: bool,
    watch: &Watch,
) -> anyhow::Result<ExitCode> {
    let Some(name) = command.first() else {
        anyhow::bail!("no program given; for example: workspan record -- ./sort 1000000");
    };
    let path = program::find(name).map_err(anyhow::Error::msg)?;
    if let Some(reason) = program::refusal(&path) {
        anyhow::bail!(reason);
    }
    let folder = match output
        .and_then(Path::parent)
        .filter(|p| !p.as_os_str().is_empty())
    {
        Some(parent) => parent.to_owned(),
        None => PathBuf::from("."),
    };
    let spool = spool_below(&folder)?;
    let tools = embedded::unpack(None)?;

    // Through the runner, as the kernel's watcher has to be set up in the process that becomes the program.
    let mut run = Command::new(&tools.runner);
    run.arg0(RUNNER_ROLE).args(command);
    run.env(environment::LIBRARY, &tools.library)
        .env(environment::SPOOL_DIR, &spool);
    run.env_remove(environment::USER_RUNNER)
        .env_remove(environment::RESTORE);
    watch.tell(&mut run);
    let status = child::run(&mut run).inspect_err(|_| {
        // Nothing ran, so nothing is in there.
        let _ = std::fs::remove_dir(&spool);
    });
    let status = status.with_context(|| format!("{}: could not be started", path.display()))?;

    let workspace = workspace_of(&path);
    let mut facts = facts(status);
    if let (Some(root), Some(profile)) = (&workspace.root, optimisation::profile_of(&path)) {
        let unoptimised = optimisation::warning(&profile, root, &[]);
        facts.extend(unoptimised.map(|text| Note::new("warning", text)));
    }
    let concluded = Outcome {
        spool: &spool,
        folder: &folder,
        output,
        workspace,
        facts,
        tool: &tools.folder,
        report,
    }
    .conclude(|names| Some(nothing(names, &path)));
    if let Err(error) = concluded {
        eprintln!("workspan: {error:#}");
    }
    Ok(child::end_like(status))
}

fn spool_below(folder: &Path) -> anyhow::Result<PathBuf> {
    let folder = folder
        .canonicalize()
        .with_context(|| folder.display().to_string())?;
    let spool = folder.join(format!(".workspan-spool-{}", std::process::id()));
    std::fs::DirBuilder::new()
        .mode(0o700)
        .create(&spool)
        .with_context(|| {
            format!(
                "{}: could not be made; use -o to name a trace in a folder that can be written",
                spool.display()
            )
        })?;
    Ok(spool)
}

/// The workspace whose target directory the program lies in, if it is there still.
fn workspace_of(program: &Path) -> Workspace {
    let Ok(program) = program.canonicalize() else {
        return Workspace::default();
    };
    let target = program
        .ancestors()
        .filter(|folder| folder.join("CACHEDIR.TAG").is_file())
        .last();
    let Some(root) = target
        .and_then(Path::parent)
        .filter(|root| root.join("Cargo.toml").is_file())
    else {
        return Workspace::default();
    };
    let manifest = root.join("Cargo.toml").into_os_string();
    let line = CargoLine::parse(&["--manifest-path".into(), manifest, "--offline".into()]);
    match Metadata::ask(&"cargo".into(), &line) {
        Ok(Ok(metadata)) => Workspace {
            members: metadata.members(),
            root: Some(metadata.workspace_root),
        },
        _ => Workspace {
            root: Some(root.to_owned()),
            members: Vec::new(),
        },
    }
}

fn nothing(names: &[String], path: &Path) -> String {
    let path = super::outcome::shown(path);
    if names.is_empty() {
        return format!(
            "nothing was recorded: {path} ended before the recorder in it could start, or replaced the dynamic loader's \
             environment. Does it run at all without workspan?"
        );
    }
    format!(
        "{path} ran, but nothing parallel was seen in it. A Rayon program is recorded when it was built with recording \
         compiled in: `cargo workspan run` does both, and `cargo workspan build` builds a program for `workspan record`. \
         A program that starts another one (a script's interpreter, env, taskset, time) is not recorded beyond itself: \
         put `workspan record --` right before the program of interest."
    )
}
