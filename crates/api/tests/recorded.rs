//! `examples/hand_made` with and without the recorder.

#![allow(clippy::unwrap_used, reason = "a test that can not go on has failed")]
#![cfg(not(feature = "off"))]

use std::path::PathBuf;
use std::process::Command;

use workspan_dag::{Dag, TaskKind};
use workspan_reader::OpenOptions;

fn built_file(names: &[&str]) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().unwrap();
    names
        .iter()
        .map(|name| folder.join(name))
        .find(|path| path.exists())
        .unwrap_or_else(|| panic!("{names:?}"))
}

fn program() -> Command {
    Command::new(built_file(&["../examples/hand_made"]))
}

#[test]
fn hand_made_tasks_are_told_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let output = program()
        .env(
            "LD_PRELOAD",
            built_file(&["libworkspan_preload.so", "../libworkspan_preload.so"]),
        )
        .env("WORKSPAN_SPOOL_DIR", folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(
        String::from_utf8_lossy(&output.stdout).ends_with(" true\n"),
        "{output:?}"
    );
    let file = std::fs::read_dir(folder.path())
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let dag: Dag = workspan_reader::open(&file, &OpenOptions::default()).unwrap();
    // The recording is a spool file.
    let mut warnings = dag.meta.warnings.iter();
    let unresolved = "Sites have no source lines";
    assert!(
        warnings.all(|w| w.starts_with(unresolved)),
        "{:?}",
        dag.meta.warnings
    );
    let count = |kind| dag.tasks.kind.iter().filter(|&&k| k == kind).count();
    assert_eq!(
        (
            count(TaskKind::Root),
            count(TaskKind::Deferred),
            count(TaskKind::Inline),
            // Two workers, which are tasks until they register as workers, and one more thread.
            count(TaskKind::Detached)
        ),
        (1, 51, 1, 3)
    );
    assert_eq!(dag.meta.workers, 2);
    let joined: Vec<usize> = (0..dag.waits.after.len())
        .map(|w| dag.waits.tasks.get(w).len())
        .collect();
    assert_eq!(joined, [50, 0, 1, 2, 0, 1, 1]);
    assert_eq!(dag.dependents.len(), 1);
    assert_eq!(dag.regions.len(), 50);
    assert_eq!(dag.parts.len(), 1);
    let items: u64 = dag.counters[0].values.iter().map(|v| v.1).sum();
    assert_eq!(
        (dag.counters[0].name.as_str(), items),
        ("items", (0..50).map(|i| 1000 * i).sum())
    );
    // Sites are calls of the library. All 50 tasks have the site of the create in the loop.
    let mut kinds = dag.tasks.kind.iter();
    let first = kinds.position(|&kind| kind == TaskKind::Deferred).unwrap();
    let place = &dag.places[dag.tasks.site[first] as usize];
    assert!(
        place
            .file
            .as_ref()
            .unwrap()
            .ends_with("examples/hand_made.rs")
    );
    let source = include_str!("../examples/hand_made.rs");
    let line = source
        .lines()
        .position(|l| l.contains("scope.create()"))
        .unwrap()
        + 1;
    assert_eq!(place.line, Some(line as u32));
}

#[test]
fn a_program_that_may_be_recorded_asks_for_the_recorder() {
    // Shows that the same search in `tests-off` can find something.
    let program = std::fs::read(program().get_program()).unwrap();
    let name = b"workspan_table_v1";
    assert!(program.windows(name.len()).any(|w| w == name));
}

#[test]
fn the_same_program_runs_unrecorded() {
    let output = program().output().unwrap();
    assert!(output.status.success());
    assert!(
        String::from_utf8_lossy(&output.stdout).ends_with(" false\n"),
        "{output:?}"
    );
}
