//! The role of cargo's target runner, and of `workspan record` itself: starts a built program with
//! the library preloaded and the kernel watching, through the user's own runner if there is one.
//! Only the runner sets the library, so cargo, rustc and build scripts run without it.

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::cargo::dry_run;
use crate::instructions;
use crate::kernel::off_cpu;
use crate::launch::each;
use crate::launch::environment::{
    self, COUNT, EACH, LIBRARY, LIST, PROGRAM, SPOOL_DIR, USER_RUNNER,
};
use crate::launch::preflight;
use crate::launch::remote_ranks;
use crate::launch::sanitizer;

use crate::say;

/// A file in the spool directory with the programs that the runner could not record, one sentence
/// per line.
pub const UNRECORDED: &str = "unrecorded.txt";

/// `args`: this program's name, the program to run, its arguments. Replaces this process; returns
/// only if that fails.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut args = args.into_iter();
    let own = args.next().unwrap_or_default();
    let Some(file) = args.next() else {
        say!(
            "workspan-runner: expected a program and its arguments; `cargo workspan` sets this up as cargo's runner"
        );
        return ExitCode::from(2);
    };
    let args: Vec<OsString> = args.collect();
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if is_set(EACH)
        && !is_set(LIST)
        && let Some(code) = each::run(&own, &file, &args)
    {
        return code;
    }
    let user = std::env::var_os(USER_RUNNER)
        .map(|value| environment::split(&value))
        .unwrap_or_default();
    let counter = std::env::var_os(COUNT).map(PathBuf::from);
    let counted = counter
        .iter()
        .flat_map(|folder| instructions::words(folder));
    let mut words = user
        .into_iter()
        .chain(counted)
        .chain([file.clone()])
        .chain(args.clone());
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words);
    environment::restore(&mut command);
    if let Some(folder) = &counter {
        instructions::tell(&mut command, folder);
    }
    if let Some(list) = std::env::var_os(LIST) {
        return match dry_run::add(Path::new(&list), &command) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                say!("workspan: {}: {error}", Path::new(&list).display());
                ExitCode::FAILURE
            }
        };
    }

    let (library, spool) = (std::env::var_os(LIBRARY), std::env::var_os(SPOOL_DIR));
    if let (Some(library), Some(spool)) = (library, spool) {
        // If it cannot be found, the exec reports that.
        let path = preflight::find(&file).unwrap_or_else(|_| PathBuf::from(&file));
        let follow = environment::follows();
        match preflight::refusal(&path, follow) {
            None => {
                let sanitizer = sanitizer::runtime(&path);
                environment::preload(&mut command, &library, &spool, sanitizer.as_deref());
                if follow {
                    sanitizer::allow_anywhere(&mut command);
                }
                if let (false, Ok(path)) = (follow, path.canonicalize()) {
                    command.env(PROGRAM, path);
                }
                if !off_cpu::watch(Path::new(&spool)) {
                    command.env(environment::SCHEDSTAT, "1");
                }
                if follow
                    && let Some(message) = remote_ranks::pass_variables(&file, &args, &mut command)
                {
                    say!("workspan: {message}");
                }
            }
            Some(reason) => {
                say!("workspan: {reason}");
                let note = Path::new(&spool).join(UNRECORDED);
                if let Ok(mut note) = std::fs::OpenOptions::new()
                    .create(true)
                    .append(true)
                    .open(note)
                {
                    // The reason was printed already; without the note it is printed only once.
                    let _ = writeln!(note, "{reason}");
                }
            }
        }
    }
    let error = command.exec();
    say!(
        "workspan: could not start {}: {error}",
        command.get_program().to_string_lossy()
    );
    ExitCode::from(if error.kind() == std::io::ErrorKind::NotFound {
        127
    } else {
        126
    })
}
