//! Recording through cargo: runs the same command with the rustc wrapper, a separate build folder,
//! and our runner.

mod build_folder;
pub mod command_line;
pub mod dry_run;
mod lockfile;
pub(crate) mod metadata;
pub(crate) mod optimisation;
mod user_config;

use std::ffi::OsString;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;

use anyhow::Context;
use workspan_rayon::environment as wrapper;
use workspan_rayon::notes::{self, Note as BuildNote};
use workspan_symbols::Workspace;
use workspan_trace::entry::Note;
use workspan_trace::note_keys::WARNING;

use self::build_folder::BuildFolder;
use crate::cargo::command_line::CargoLine;
use crate::cargo::metadata::Metadata;
use crate::cargo::user_config::UserConfig;
use crate::embedded::{self, Tools};
use crate::launch::child;
use crate::launch::environment::{self, EnvironmentChanges};
use crate::launch::runner::UNRECORDED;
use crate::options::keep_windows::Windows;
use crate::options::settings::Watch;
use crate::outcome::missed_runtime;
use crate::outcome::{Outcome, PrintReport, PrintTable, shown};
use crate::run_notes::facts;
use crate::say;
use crate::trace_file::run_folder;

/// The request to record a cargo command.
pub struct Request {
    /// cargo itself.
    pub cargo: OsString,
    /// Its arguments.
    pub line: CargoLine,
    /// The file for the main trace, if the user named one.
    pub output: Option<PathBuf>,
    /// Prints the report of the main trace; `None` for no report.
    pub report: Option<PrintReport>,
    /// Whether to leave the profile unchanged.
    pub keep_profile: bool,
    /// Which parts of the run are kept.
    pub windows: Arc<Windows>,
    /// How the kernel watches the program.
    pub watch: Watch,
    /// Runs each test or benchmark in a process of its own, and prints the table of all.
    pub each: Option<PrintTable>,
    /// Whether to record processes that programs start, too.
    pub follow: bool,
}

/// Runs cargo so that the programs it starts are recorded, and reports.
///
/// # Errors
/// cargo could not be queried, or a file could not be unpacked or written.
pub fn record(mut request: Request) -> anyhow::Result<ExitCode> {
    let given = request.line.clone();
    if given.subcommand_name().is_none() {
        // For `cargo --version` and similar commands.
        let status = Command::new(&request.cargo)
            .args(given.arguments())
            .status();
        return Ok(child::end_like(
            status.with_context(|| request.cargo.to_string_lossy().into_owned())?,
        ));
    }
    let metadata = match Metadata::ask(&request.cargo, &given)? {
        Ok(metadata) => metadata,
        Err(code) => return Ok(ExitCode::from(code)),
    };
    let target = match request.line.take("--target-dir") {
        Some(folder) => std::env::current_dir()?.join(folder),
        None => metadata.target_directory.clone(),
    };
    tag_new_target(&target);
    let tools = embedded::unpack(Some(&target.join("workspan/tool")))?;
    let user = UserConfig::read(&given)?;
    let build = BuildFolder::below(&target, request.keep_profile);
    if build.new {
        say_once(&build.path, request.keep_profile);
    }
    let run = run_folder::new_run(&target).with_context(|| {
        format!("{}: the folder for traces could not be made; give cargo a --target-dir that can be written", target.display())
    })?;
    let spool = run.join("spool");
    std::fs::DirBuilder::new()
        .mode(0o700)
        .create(&spool)
        .with_context(|| spool.display().to_string())?;

    let mut command = prepare(&mut request, &tools, &user, &build, &spool)?;
    let (status, writing) = child::run(
        &mut command,
        &request.windows,
        &spool,
        request.watch.stall,
        None,
    )
    .with_context(|| request.cargo.to_string_lossy().into_owned())?;

    let lock = metadata.workspace_root.join("Cargo.lock");
    let build_notes = lockfile::current(notes::read(&build.notes()), &lock);
    let unrecorded = std::fs::read_to_string(spool.join(UNRECORDED)).unwrap_or_default();
    let mut facts = facts(status);
    facts.extend(request.watch.notes(&request.windows));
    facts.push(Note::new("cargo", line_text(&given)));
    let profile = if request.keep_profile {
        "as the user has it"
    } else {
        "line tables added, not stripped"
    };
    let name = optimisation::profile(&given);
    facts.push(Note::new("profile", format!("{name}, {profile}")));
    let unoptimised =
        optimisation::warning(&name, &metadata.workspace_root, &given.values("--config"));
    facts.extend(unoptimised.map(|text| Note::new(WARNING, text)));
    facts.extend(gaps(&build_notes).map(|text| Note::new(WARNING, text)));
    Outcome {
        spool: &spool,
        writing: &writing,
        folder: &run,
        output: request.output.as_deref(),
        workspace: Workspace {
            members: metadata.members(),
            root: Some(metadata.workspace_root),
        },
        facts,
        tool: &tools.folder,
        report: request.report,
        each: request.each,
        follow: request.follow,
        as_one: false,
        windows: &request.windows,
        tail_grain: request.watch.fold.tail_grain(),
        max_overhead: request.watch.max_overhead,
        lake: request.watch.lake.as_ref(),
    }
    .conclude(|recorded| match recorded {
        [] => not_run(&given, status.success(), &unrecorded, &build.path),
        [one] if !one.runtimes.is_empty() && !has_rayon(&build_notes) => {
            missed_runtime::silence(Path::new(&one.name), one)
        }
        recorded => {
            let names: Vec<String> = recorded.iter().map(|one| one.name.clone()).collect();
            Some(no_tasks(&names, &build_notes))
        }
    });
    // The folder stays if a trace is in it.
    let _ = std::fs::remove_dir(&run);
    Ok(child::end_like(status))
}

/// Creates a missing target folder, with the file that excludes it from backups. cargo writes that
/// file only when it creates the folder itself. An existing folder is left for the user to tag.
fn tag_new_target(target: &Path) {
    const TAG: &str = "Signature: 8a477f597d28d172789f06886806bc55\n\
        # This file is a cache directory tag created by workspan.\n\
        # For information about cache directory tags see https://bford.info/cachedir/\n";
    if target.exists() {
        return;
    }
    // A failure shows up later, when a file is written there.
    let made = std::fs::create_dir_all(target);
    let _ = made.and_then(|()| std::fs::write(target.join("CACHEDIR.TAG"), TAG));
}

/// The user's command with our wrapper, folder and runner.
fn prepare(
    request: &mut Request,
    tools: &Tools,
    user: &UserConfig,
    build: &BuildFolder,
    spool: &Path,
) -> anyhow::Result<Command> {
    let mut command = Command::new(&request.cargo);
    environment::leave_outer(&mut command);
    let mut changed = EnvironmentChanges::default();
    changed.set(&mut command, "RUSTC_WRAPPER", &tools.rustc);
    changed.set(&mut command, "CARGO_TARGET_DIR", &build.path);
    if user.has_build_dir {
        // Intermediate files of wrapped and ordinary builds must not mix, either.
        changed.set(&mut command, "CARGO_BUILD_BUILD_DIR", &build.path);
    }
    changed.set(&mut command, wrapper::STAND_IN, &tools.stand_in);
    changed.set(&mut command, wrapper::NOTES, build.notes());
    changed.set(
        &mut command,
        wrapper::USER_WRAPPER,
        user.wrapper.clone().unwrap_or_default(),
    );
    changed.set(
        &mut command,
        wrapper::KEEP_PROFILE,
        if request.keep_profile { "1" } else { "" },
    );
    changed.finish(&mut command);
    command
        .env(environment::LIBRARY, &tools.library)
        .env(environment::SPOOL_DIR, spool);
    request.watch.tell(&mut command);
    request.windows.tell(&mut command, spool);
    if request.follow {
        command.env(environment::FOLLOW, "1");
    }
    if request.each.is_some() {
        command.env(environment::EACH, "1");
    }
    if user.runner.is_empty() {
        command.env_remove(environment::USER_RUNNER);
    } else {
        command.env(environment::USER_RUNNER, environment::join(&user.runner));
    }

    request.line.add_config(runner_config(user, &tools.runner)?);
    command.args(request.line.arguments());
    Ok(command)
}

/// The `--config` value that makes `runner` cargo's target runner.
///
/// # Errors
/// cargo cannot represent the runner's path.
pub(crate) fn runner_config(user: &UserConfig, runner: &Path) -> anyhow::Result<OsString> {
    let runner = if user.runner_is_string {
        embedded::undivided(runner)?
    } else {
        runner.to_owned()
    };
    let runner = runner.to_str().with_context(|| {
        format!("{}: cargo can't be given this path, as it is not UTF-8; set XDG_CACHE_HOME to one that is", runner.display())
    })?;
    let runner = toml::Value::from(runner);
    let value = if user.runner_is_string {
        runner.to_string()
    } else {
        format!("[{runner}]")
    };
    let target = toml::Value::from(user.target.as_str());
    Ok(format!("target.{target}.runner={value}").into())
}

fn say_once(folder: &Path, keep_profile: bool) {
    let profile = if keep_profile {
        "with the profile as it is"
    } else {
        "with line tables and without stripping (--keep-profile leaves the profile alone)"
    };
    say!(
        "workspan: building into {}, {profile}; your own build and Cargo.lock stay as they are",
        shown(folder)
    );
}

fn line_text(line: &CargoLine) -> String {
    let words = line.arguments().map(|word| shown(Path::new(word)));
    ["cargo".to_owned()]
        .into_iter()
        .chain(words)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Why no program was recorded.
fn not_run(line: &CargoLine, success: bool, unrecorded: &str, build: &Path) -> Option<String> {
    if !unrecorded.is_empty() {
        return Some(
            "nothing was recorded, for the reason given before the program started".to_owned(),
        );
    }
    if !success {
        // cargo has reported what is wrong.
        return None;
    }
    match line.subcommand_name()? {
        "build" | "b" | "rustc" => Some(format!(
            "built with recording compiled in; record a program from there with: workspan record -- {}",
            shown(&build.join(programs_folder(line)).join("PROGRAM"))
        )),
        "run" | "r" | "test" | "t" | "bench" => Some(
            "nothing was recorded: cargo started no program (doctests are not recorded). A runner of your own that starts \
             the program elsewhere or with a cleared environment keeps workspan out; take it out of cargo's configuration \
             to record"
                .to_owned(),
        ),
        _ => None,
    }
}

/// The folder inside the build folder in which cargo puts programs.
fn programs_folder(line: &CargoLine) -> PathBuf {
    let release = line.has("--release") || line.has("-r");
    let profile = line.values("--profile").pop();
    let profile = match profile.as_ref().and_then(|name| name.to_str()) {
        // These two profiles share the folder of their base profile.
        Some("dev" | "test") => "debug",
        Some("bench") => "release",
        Some(name) => name,
        None if release => "release",
        None => "debug",
    };
    let target = line.values("--target").pop().unwrap_or_default();
    Path::new(&target).join(profile)
}

fn has_rayon(build_notes: &[BuildNote]) -> bool {
    build_notes.iter().any(|note| note.key == notes::RECORDED)
}

/// Warnings for parts of the build that are not recorded, or only partly.
fn gaps(build_notes: &[BuildNote]) -> impl Iterator<Item = String> {
    let prefix = if has_rayon(build_notes) {
        "This build's Rayon is only partly recorded"
    } else {
        "Rayon is not recorded"
    };
    build_notes
        .iter()
        .filter_map(move |note| match note.key.as_str() {
            notes::UNRECORDED => Some(format!("{prefix}: {}.", note.text)),
            notes::UNHOOKED => Some(format!(
                "Less is known about Rayon's scheduler: {}.",
                note.text
            )),
            _ => None,
        })
}

/// Why the recording has no task.
fn no_tasks(names: &[String], build_notes: &[BuildNote]) -> String {
    let program = match names {
        [one] => format!("`{one}`"),
        _ => "none of the programs".to_owned(),
    };
    let unrecorded: Vec<&str> = build_notes
        .iter()
        .filter(|note| note.key == notes::UNRECORDED)
        .map(|note| note.text.as_str())
        .collect();
    // If there are two, the program may use the one that is not recorded.
    match build_notes
        .iter()
        .find(|note| note.key == notes::RECORDED || note.key == notes::UNRECORDED)
    {
        Some(_) if !unrecorded.is_empty() => {
            format!("nothing parallel was recorded: {}", unrecorded.join("; "))
        }
        Some(_) if names.len() == 1 => format!(
            "{program} created no Rayon task in this run, so there is nothing to report. The build contains Rayon. Does this \
            program use it, and does this input reach the parallel part?"
        ),
        Some(_) => {
            format!(
                "{program} created a Rayon task in this run, so there is nothing to report. The build contains Rayon. Do they use it?"
            )
        }
        None => format!(
            "nothing parallel was recorded: no rayon-core was built for {}. `cargo workspan` records programs that use \
             Rayon, themselves or through a dependency; is this the right package, and are its features on?",
            if names.len() == 1 {
                program.as_str()
            } else {
                "these programs"
            }
        ),
    }
}
