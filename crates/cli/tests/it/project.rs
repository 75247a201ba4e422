//! A fixture's copy in a folder with a space in its name, kept between runs so that its
//! dependencies are built once.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, PoisonError};

use workspan_dag::Dag;
use workspan_reader::OpenOptions;

/// The tool under its two names.
pub const WORKSPAN: &str = env!("CARGO_BIN_EXE_workspan");
pub const CARGO_WORKSPAN: &str = env!("CARGO_BIN_EXE_cargo-workspan");

/// A copy of a project in `tests/fixtures`.
pub struct Project {
    pub root: PathBuf,
}

impl Project {
    /// Copies the fixture; files that are the same already keep their time.
    pub fn new(fixture: &str) -> Self {
        Self::named(fixture, fixture)
    }

    /// A copy that no other test has.
    pub fn named(fixture: &str, name: &str) -> Self {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join("recorded projects")
            .join(name);
        // Tests of one program run at the same time; copies are the same for all of them.
        static COPYING: Mutex<()> = Mutex::new(());
        let _one_at_a_time = COPYING.lock().unwrap();
        copy(
            &Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("tests/fixtures")
                .join(fixture),
            &root,
        );
        Self { root }
    }

    /// A copy that a few tests use by turns, because each examines everything in it: built once for
    /// them. It belongs to the caller while the second value lives.
    pub fn alone(fixture: &str, name: &str) -> (Self, MutexGuard<'static, ()>) {
        static TURN: Mutex<()> = Mutex::new(());
        // A test that failed leaves nothing half done that the next one would mind.
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        (Self::named(fixture, name), turn)
    }

    /// `cargo workspan` in the project, as the user calls it.
    pub fn cargo_workspan(&self, args: &[&str]) -> Command {
        let mut command = self.command(CARGO_WORKSPAN);
        command.arg("workspan").args(args);
        command
    }

    /// A program in the project, without what cargo set for this test.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = bare(program);
        command.current_dir(&self.root);
        command
    }

    /// Runs kept in the project's target directory.
    pub fn runs(&self) -> Vec<PathBuf> {
        let mut runs: Vec<PathBuf> = fs::read_dir(self.root.join("target/workspan/runs"))
            .map(|entries| entries.map(|e| e.unwrap().path()).collect())
            .unwrap_or_default();
        runs.sort();
        runs
    }
}

/// A command without what cargo set for this test, with a cache of its own whose path has a space.
pub fn bare(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let set_by_cargo = text.starts_with("CARGO") && text != "CARGO_HOME";
        if set_by_cargo
            || text.starts_with("RUSTC")
            || text.starts_with("WORKSPAN")
            || text == "RUSTFLAGS"
        {
            command.env_remove(&name);
        }
    }
    command.env(
        "XDG_CACHE_HOME",
        Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache with space"),
    );
    command
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (source, copied) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type().unwrap().is_dir() {
            if entry.file_name() != "target" {
                copy(&source, &copied);
            }
        } else if fs::read(&source).unwrap() != fs::read(&copied).unwrap_or_default() {
            // Test programs may run at the same time.
            let half = to.join(format!(
                ".{}.{}",
                std::process::id(),
                entry.file_name().to_string_lossy()
            ));
            fs::copy(&source, &half).unwrap();
            fs::rename(&half, &copied).unwrap();
        }
    }
}

/// Standard error as text.
pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Standard output as text.
pub fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The trace that the last "the trace is" line names, relative to `root`.
pub fn trace_of(output: &Output, root: &Path) -> PathBuf {
    let said = said(output);
    let line = said
        .lines()
        .rev()
        .find_map(|l| l.strip_prefix("workspan: the trace is "));
    root.join(
        line.unwrap_or_else(|| panic!("no trace named in:\n{said}"))
            .trim_matches('\''),
    )
}

/// Reads a trace.
pub fn read(path: &Path) -> Dag {
    workspan_reader::open(path, &OpenOptions::default())
        .unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Labels of the sites that tasks were created at, each once, sorted; threads are left out.
pub fn sites(dag: &Dag) -> Vec<String> {
    let mut sites: Vec<String> = (0..dag.tasks.len())
        .filter(|&task| dag.tasks.kind[task] != workspan_dag::TaskKind::Root)
        .map(|task| &dag.places[dag.tasks.site[task] as usize])
        .filter(|place| !place.is_thread())
        .map(|place| place.label.clone())
        .collect();
    sites.sort();
    sites.dedup();
    sites
}
