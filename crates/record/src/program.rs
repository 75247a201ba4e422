//! `workspan record -- PROGRAM`: runs an existing program with the library preloaded.

use std::ffi::OsString;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;

use anyhow::Context;
use workspan_symbols::Workspace;
use workspan_trace::entry::Note;
use workspan_trace::note_keys::WARNING;

use crate::cargo::command_line::CargoLine;
use crate::cargo::metadata::Metadata;
use crate::cargo::optimisation;
use crate::embedded::{self, RUNNER_ROLE};
use crate::flight_recorder::{KeptParts, PartWriter};
use crate::launch::child;
use crate::launch::environment;
use crate::launch::preflight;
use crate::launch::runtime_swap;
use crate::options::keep_windows::Windows;
use crate::options::processes::ProcessHandling;
use crate::options::settings::Watch;
use crate::outcome::missed_runtime;
use crate::outcome::{Outcome, PrintReport};
use crate::run_notes::facts;
use crate::say;
use crate::trace_file::finalize::FinalTrace;

/// The request to record a program.
pub struct Request<'a> {
    /// The program and its arguments.
    pub command: &'a [OsString],
    /// The file for the main trace, if the user named one.
    pub output: Option<&'a Path>,
    /// Prints the report of the main trace; `None` for no report.
    pub report: Option<PrintReport>,
    /// Which parts of the run are kept.
    pub windows: Arc<Windows>,
    /// How the kernel watches the program.
    pub watch: Watch,
    /// Whether and how processes that the program starts are recorded.
    pub followed: ProcessHandling,
    /// Whether to replace GCC's OpenMP runtime by LLVM's.
    pub swap_runtime: bool,
}

/// Runs the command, records it, and reports.
///
/// # Errors
/// The program cannot be recorded (reported before it starts), or the trace cannot be written.
pub fn record(request: &Request<'_>) -> anyhow::Result<ExitCode> {
    let Some(name) = request.command.first() else {
        anyhow::bail!("no program given; for example: workspan record -- ./sort 1000000");
    };
    let path = preflight::find(name).map_err(anyhow::Error::msg)?;
    if let Some(reason) = preflight::refusal(&path, request.followed.follow) {
        anyhow::bail!(reason);
    }
    let runtime = request.swap_runtime.then(|| runtime_swap::library(&path));
    let runtime = runtime.transpose()?;
    let folder = match request
        .output
        .and_then(Path::parent)
        .filter(|p| !p.as_os_str().is_empty())
    {
        Some(parent) => parent.to_owned(),
        None => PathBuf::from("."),
    };
    // This comes first, so that a failure leaves no folder behind.
    let tools = embedded::unpack(None)?;
    let spool = spool_below(&folder)?;

    // Uses the runner, because the kernel's watcher has to be set up in the process that becomes
    // the program.
    let mut run = Command::new(&tools.runner);
    run.arg0(RUNNER_ROLE).args(request.command);
    environment::leave_outer(&mut run);
    run.env(environment::LIBRARY, &tools.library)
        .env(environment::SPOOL_DIR, &spool);
    run.env_remove(environment::USER_RUNNER)
        .env_remove(environment::RESTORE)
        .env_remove(environment::FOLLOW)
        .env_remove(environment::EACH)
        .env_remove(environment::SWAP);
    if request.followed.follow {
        run.env(environment::FOLLOW, "1");
    }
    if let Some(runtime) = &runtime {
        run.env(environment::SWAP, runtime);
    }
    request.watch.tell(&mut run);
    request.windows.tell(&mut run, &spool);
    let mut workspace = workspace_of(&path);
    if workspace.root.is_none() {
        // Sources of a program that cargo did not build are shown relative to the working
        // directory.
        workspace.root = std::env::current_dir().ok();
    }
    let written_parts = KeptParts::default();
    let parts = request.windows.is_triggered().then(|| PartWriter {
        spool: spool.clone(),
        folder: folder.clone(),
        output: request.output.map(Path::to_owned),
        workspace: workspace.clone(),
        facts: request.watch.notes(&request.windows).collect(),
        tool: tools.folder.clone(),
        follow: request.followed.follow,
        lake: request.watch.lake.clone(),
        written_parts: Arc::clone(&written_parts),
    });
    let stall = request.watch.stall;
    let ran = child::run(&mut run, &request.windows, &spool, stall, parts).inspect_err(|_| {
        // Nothing ran, so the folder is empty.
        let _ = std::fs::remove_dir_all(&spool);
    });
    let (status, writing) =
        ran.with_context(|| format!("{}: could not be started", path.display()))?;

    let mut facts = facts(status);
    facts.extend(request.watch.notes(&request.windows));
    if let Some(runtime) = &runtime {
        facts.push(Note::new("swapped runtime", runtime.to_string_lossy()));
        facts.push(Note::new(WARNING, runtime_swap::WARNING));
    }
    if let (Some(root), Some(profile)) = (&workspace.root, optimisation::profile_of(&path)) {
        let unoptimised = optimisation::warning(&profile, root, &[]);
        facts.extend(unoptimised.map(|text| Note::new(WARNING, text)));
    }
    let outcome = Outcome {
        spool: &spool,
        writing: &writing,
        folder: &folder,
        output: request.output,
        workspace,
        facts,
        tool: &tools.folder,
        report: request.report,
        each: None,
        follow: request.followed.follow,
        as_one: request.followed.as_one,
        windows: &request.windows,
        tail_grain: request.watch.fold.tail_grain(),
        max_overhead: request.watch.max_overhead,
        lake: request.watch.lake.as_ref(),
    };
    if !request.windows.keep_end(status.code()) {
        outcome.discard(
            written_parts
                .lock()
                .map_or(0, |written_parts| written_parts.len()),
        );
        return Ok(child::end_like(status));
    }
    outcome.conclude(|recorded| Some(nothing(recorded, &path, request.followed.follow)));
    if runtime.is_some() && status.signal().is_some() {
        say!(
            "workspan: the program may have crashed because of --swap-runtime: {}",
            runtime_swap::WARNING
        );
    }
    Ok(child::end_like(status))
}

/// Creates a folder for spool files in `folder`.
///
/// # Errors
/// The folder cannot be created.
pub(crate) fn spool_below(folder: &Path) -> anyhow::Result<PathBuf> {
    let folder = folder
        .canonicalize()
        .with_context(|| folder.display().to_string())?;
    let name = format!(".workspan-spool-{}", std::process::id());
    for number in 0.. {
        // Containers that share the folder may have processes with the same number, and a folder
        // may have been left there.
        let spool = folder.join(match number {
            0 => name.clone(),
            number => format!("{name}-{number}"),
        });
        match std::fs::DirBuilder::new().mode(0o700).create(&spool) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 1000 => {}
            made => {
                return made.map(|()| spool.clone()).with_context(|| {
                    format!(
                        "{}: could not be made; use -o to name a trace in a folder that can be written",
                        spool.display()
                    )
                });
            }
        }
    }
    anyhow::bail!(
        "{}: every name for a folder in it is taken",
        folder.display()
    )
}

/// The workspace whose target directory contains the program, if it still exists.
fn workspace_of(program: &Path) -> Workspace {
    let Ok(program) = program.canonicalize() else {
        return Workspace::default();
    };
    // The target folder of a workspace has the tag if cargo created it; the build folder below
    // `target/workspan` always has it.
    let build = program
        .ancestors()
        .find(|folder| folder.join("CACHEDIR.TAG").is_file());
    let target = build.map(|build| match build.parent() {
        Some(workspan) if workspan.ends_with("workspan") => workspan.parent().unwrap_or(build),
        _ => build,
    });
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

/// Why nothing parallel was recorded, and what to do.
fn nothing(recorded: &[&FinalTrace], path: &Path, follow: bool) -> String {
    let program = crate::outcome::shown(path);
    if recorded.is_empty() {
        return format!(
            "nothing was recorded: {program} ended before the recorder in it could start, or replaced the dynamic loader's \
             environment. Does it run at all without workspan?"
        );
    }
    if let Some(silent) = recorded
        .iter()
        .find_map(|one| missed_runtime::silence(path, one))
    {
        return silent;
    }
    let beyond = if follow {
        "Nor was anything seen in the programs that it started. Setuid and static programs, children that only fork, and \
        programs with an emptied environment (env -i, sudo) cannot be followed."
    } else {
        "If it starts other programs (like a shell, python, env, taskset or time), record them with --follow, or put \
        `workspan record --` directly before the program of interest."
    };
    if recorded.iter().any(|one| one.threads) {
        return format!(
            "{program} was recorded with the threads that it started itself. It contains no OpenMP, no oneTBB and no Rayon \
            built for recording (with `cargo workspan run` or `cargo workspan build`)."
        );
    }
    format!(
        "{program} ran, but nothing parallel was seen in it: no OpenMP, no oneTBB, no Rayon built for recording (with \
        `cargo workspan run` or `cargo workspan build`). A runtime that is linked statically (from a .a file) cannot be \
        seen. {beyond}"
    )
}
