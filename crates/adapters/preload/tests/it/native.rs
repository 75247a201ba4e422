//! Compiles programs as a user does and runs them with the library preloaded.
pub mod left_out;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use workspan_dag::{Dag, TaskKind};
use workspan_reader::OpenOptions;
pub use workspan_toolchains::{builds, skipped};

/// The root folder of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../..")
        .canonicalize()
        .unwrap()
}

/// The library as cargo built it for this test.
pub fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().unwrap();
    ["libworkspan_preload.so", "../libworkspan_preload.so"]
        .iter()
        .map(|name| folder.join(name))
        .find(|path| path.exists())
        .expect("libworkspan_preload.so beside the test")
}

/// The command that starts this machine's compiler called `gcc`, `g++`, `clang` or `clang++`. Other
/// names are returned unchanged if they can be started.
pub fn compiler(name: &str) -> Option<String> {
    if let Some(found) = workspan_toolchains::named(name) {
        return Some(found.command.clone());
    }
    let asked = Command::new(name).arg("--version").output();
    asked
        .is_ok_and(|o| o.status.success())
        .then(|| name.to_owned())
}

/// A program's output with and without the library, and its one trace.
pub struct Run {
    pub bare: Output,
    pub recorded: Output,
    pub dag: Dag,
}

/// Runs a program bare, then recorded.
pub fn run(program: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let spool = folder.path().join("spool");
    std::fs::create_dir(&spool).unwrap();
    let mut command = Command::new(program);
    command.args(arguments).envs(environment.iter().copied());
    let bare = command.output().unwrap();
    let recorded = command
        .env("LD_PRELOAD", library())
        .env("WORKSPAN_SPOOL_DIR", &spool)
        .output()
        .unwrap();
    let files: Vec<PathBuf> = std::fs::read_dir(&spool)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    assert_eq!(files.len(), 1, "{program:?}: {files:?}");
    let dag = workspan_reader::open(&files[0], &OpenOptions::default()).unwrap();
    Run {
        bare,
        recorded,
        dag,
    }
}

impl Run {
    /// Checks that recording did not change the program's output, and that the program succeeded.
    pub fn assert_same(&self, what: &str) {
        assert!(self.bare.status.success(), "{what}: {:?}", self.bare);
        assert_eq!(self.bare, self.recorded, "{what}");
        assert!(
            !self.dag.meta.warnings.iter().any(|w| w.contains("orderly")),
            "{:?}",
            self.dag.meta.warnings
        );
    }

    /// The number of tasks of a kind.
    pub fn count(&self, kind: TaskKind) -> usize {
        self.dag.tasks.kind.iter().filter(|&&k| k == kind).count()
    }
}
