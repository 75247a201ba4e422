//! The flight recorder: `--ring` with `--on-…` keeps parts of a run while it goes on.

use std::path::{Path, PathBuf};

use crate::native;
use crate::project::{WORKSPAN, bare, printed, read, said};
use workspan_dag::{Dag, TaskKind};

/// The messages of `workspan record --ring 400ms FLAGS -- keeps HOW MS`, and the parts that it
/// kept.
fn recorded(folder: &Path, flags: &[&str], how: &str, ms: &str, code: i32) -> (String, Vec<Dag>) {
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include");
    let program = native::compile("cc", "keeps.c", folder, &["-I", include.to_str().unwrap()]);
    let mut command = bare(WORKSPAN);
    command.current_dir(folder);
    command.args(["record", "--no-report", "--ring", "400ms"]);
    command.args(flags).arg("--").arg(program).args([how, ms]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{}", said(&output));
    assert_eq!(printed(&output), format!("{how}\n"));
    let mut kept: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "wspan"))
        .collect();
    kept.sort();
    let left = std::fs::read_dir(folder).unwrap();
    let mut left = left.map(|entry| entry.unwrap().file_name());
    assert!(!left.any(|name| name.to_string_lossy().contains("spool")));
    (said(&output), kept.iter().map(|path| read(path)).collect())
}

fn fact<'a>(dag: &'a Dag, key: &str) -> &'a str {
    let mut facts = dag.meta.facts.iter();
    facts.find(|(known, _)| known == key).map_or("", |f| &f.1)
}

/// A part has what led to its trigger, ends in an orderly way, and is no longer than the ring.
fn assert_part(dag: &Dag, why: &str) {
    assert!(
        fact(dag, "kept because").contains(why),
        "{:?}",
        dag.meta.facts
    );
    let tasks = dag.tasks.kind.iter().filter(|&&k| k != TaskKind::Root);
    assert!(tasks.count() > 10, "{:?}", dag.meta.warnings);
    let end = dag.strands.end.iter().max().copied().unwrap_or(0);
    let seconds = end as f64 / dag.meta.ticks_per_second as f64;
    assert!(seconds < 0.401, "{seconds}");
    let killed = |warning: &String| warning.contains("orderly");
    assert!(
        !dag.meta.warnings.iter().any(killed),
        "{:?}",
        dag.meta.warnings
    );
}

#[test]
fn a_call_keeps_a_part_and_the_run_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let (text, parts) = recorded(folder.path(), &["--on-call"], "calls", "300", 0);
    assert!(text.contains("one part of it is kept"), "{text}");
    assert_eq!(parts.len(), 1, "{text}");
    assert_part(&parts[0], "workspan_keep");
}

#[test]
fn a_standstill_keeps_what_was_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["--on-stall", "150ms"];
    let (text, parts) = recorded(folder.path(), &flags, "stalls", "300", 0);
    assert!(text.contains("because it used no CPU for 150 ms"), "{text}");
    assert_part(&parts[0], "used no CPU");
}

#[test]
fn a_share_of_the_worker_time_keeps_parts_until_there_are_most() {
    let folder = tempfile::tempdir().unwrap();
    // One of two workers is free while tasks are ready.
    let flags = ["--on", "delay > 30%", "--most-parts", "2"];
    let (text, parts) = recorded(folder.path(), &flags, "calm", "2000", 0);
    assert_eq!(parts.len(), 2, "{text}");
    assert!(
        text.contains("2 parts have been kept, so this one is dropped"),
        "{text}"
    );
    for part in &parts {
        assert_part(part, "delay was ");
    }
    let (_, none) = recorded(folder.path(), &["--on", "delay > 99%"], "calm", "800", 0);
    assert_eq!(none.len(), 2, "those of before");
}

#[test]
fn the_end_is_kept_for_the_codes_that_were_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["--on-exit-code", "failure"];
    let (text, parts) = recorded(folder.path(), &flags, "calm", "100", 0);
    assert!(text.contains("so no part of it was kept"), "{text}");
    assert_eq!(parts.len(), 0);
    let (text, parts) = recorded(folder.path(), &flags, "fails", "300", 3);
    assert!(text.contains("the trace is "), "{text}");
    assert_eq!(fact(&parts[0], "exit status"), "3");
}
